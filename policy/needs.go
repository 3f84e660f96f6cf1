package policy

import (
	"slices"
	"strings"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/shell"
)

// maxNeeds is how many programs, paths and effects of a command are listed.
const maxNeeds = 32

// needs says what a call that is asked about needs permission for (D8).
func (f *Facts) needs() *gatelatch.Needs {
	n := &gatelatch.Needs{Type: gatelatch.NeedAll}
	switch tool := pathTools[f.call.Tool]; {
	case f.shell != nil:
		n.Type = gatelatch.NeedCommand
		f.shell.needs(n)
	case tool.writes:
		n.Type = gatelatch.NeedWrite
	case tool.field != "" || f.web != nil:
		n.Type = gatelatch.NeedRead
	}
	if f.path != nil {
		n.Paths = f.path.certain
	}
	n.Touches, n.More = f.touches()
	return n
}

func (u *shellUse) needs(n *gatelatch.Needs) {
	var programs []string
	for _, c := range u.facts.Commands {
		programs = append(programs, signature(c))
	}
	n.Signature = strings.Join(few(programs), "; ")
	for _, e := range u.facts.Effects {
		n.Info = append(n.Info, e.Action.String())
		if e.Path != "" {
			n.Paths = append(n.Paths, e.Path)
		}
	}
	n.Info, n.Paths = few(n.Info), few(n.Paths)
}

// signature is the program with the word behind it, if that is a verb: git push.
func signature(c shell.Simple) string {
	var words []string
	for _, w := range c.Words {
		if !w.Known() || len(words) == 2 || strings.HasPrefix(w.Text, "-") || strings.ContainsAny(w.Text, "/.=") && len(words) > 0 {
			break
		}
		words = append(words, w.Text)
	}
	return strings.Join(words, " ")
}

// few drops what is empty or there twice, and more than anybody reads.
func few(list []string) (out []string) {
	for _, s := range list {
		if s != "" && !slices.Contains(out, s) && len(out) < maxNeeds {
			out = append(out, s)
		}
	}
	return out
}
