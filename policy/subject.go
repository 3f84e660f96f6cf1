package policy

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/internal/strictjson"
)

// A subject is a call, read once for all rules. By its tool, at most one of
// the parts is set.
type subject struct {
	call    *gatelatch.Call
	session gatelatch.Session
	fields  map[string]json.RawMessage // nil if the input is no object
	home    string                     // "" if it is not known
	dirs    []string                   // see File.Protect

	shell *shellUse
	path  *pathUse
	web   *webUse
	skill string

	// unmatched says more than "no rule covers this", if there is more to say.
	unmatched string
	// concerns are what must be asked whatever the rules say.
	concerns []gatelatch.Reason
}

func newSubject(c *gatelatch.Call, sess *gatelatch.Session, dirs []string) *subject {
	s := &subject{call: c, home: home(), dirs: dirs}
	if sess != nil {
		s.session = *sess
	}
	if fs, err := strictjson.Fields(c.Input); err == nil {
		s.fields = map[string]json.RawMessage{}
		for _, f := range fs {
			s.fields[f.Name] = f.Value
		}
	}
	if c.Kind != gatelatch.Permission {
		s.concern("a call of kind %q is for a person to answer", c.Kind)
	}
	switch {
	case c.Tool == "Bash":
		s.readShell()
	case pathTools[c.Tool].field != "":
		s.readPath()
	case c.Tool == "WebFetch":
		s.readWeb()
	case c.Tool == "Skill":
		s.skill, _ = s.text("skill")
	case strings.HasPrefix(c.Tool, "mcp__"):
		s.protectStrings()
	}
	return s
}

// concern makes sure that a person is asked.
func (s *subject) concern(format string, args ...any) *gatelatch.Reason {
	s.concerns = append(s.concerns, gatelatch.Reason{
		Effect: gatelatch.Ask, Layer: layerDefault, Message: fmt.Sprintf(format, args...),
	})
	return &s.concerns[len(s.concerns)-1]
}

// text returns a field that must be a string.
func (s *subject) text(name string) (text string, ok bool) {
	raw, has := s.fields[name]
	if !has || len(raw) == 0 || raw[0] != '"' {
		return "", false
	}
	return text, json.Unmarshal(raw, &text) == nil
}

// hidden reports whether r would not show, or would change how the rest does.
func hidden(r rune) bool { return r != ' ' && !unicode.IsPrint(r) }
