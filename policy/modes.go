package policy

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/shell"
)

// A modeInForce is the mode of a session and what it comes from.
type modeInForce struct {
	mode          gatelatch.Mode
	layer, source string
	choice        *gatelatch.ModeChoice // a person's
}

func (m modeInForce) message(does string) string {
	text := fmt.Sprintf("the mode %s %s", m.mode, does)
	if m.choice == nil {
		return text
	}
	text += ", chosen by " + cmp.Or(m.choice.By.String(), "a person")
	if !m.choice.Until.IsZero() {
		text += " until " + m.choice.Until.UTC().Format("2006-01-02 15:04 MST")
	}
	return text
}

// modeFor returns the mode in force: what a person chose, else what a file
// says. The host, and the file in a project, can only tighten to plan.
func (s *Set) modeFor(f *Facts) modeInForce {
	if f.session.Mode == string(gatelatch.ModePlan) {
		return modeInForce{mode: gatelatch.ModePlan, layer: layerSession}
	}
	out := modeInForce{mode: gatelatch.ModeDefault, layer: layerDefault}
	for _, l := range s.layers {
		mode, source := l.modeIn(f)
		switch {
		case mode == "":
		case l.name == layerProject:
			return modeInForce{mode: mode, layer: l.name, source: source}
		case out.layer == layerDefault || strictness(mode) < strictness(out.mode):
			out = modeInForce{mode: mode, layer: l.name, source: source}
		}
	}
	if f.session.Chosen.Mode == "" {
		return out
	}
	switch mode := f.session.ModeAt(s.now()); {
	case mode == "":
		return out
	case strictness(mode) < 0:
		return modeInForce{mode: gatelatch.ModeDefault, layer: layerSession}
	default:
		return modeInForce{mode: mode, layer: layerSession, choice: &f.session.Chosen}
	}
}

// ModeOf implements gatelatch.Moding.
func (s *Set) ModeOf(sess *gatelatch.Session) (gatelatch.Mode, string) {
	plain := *sess
	plain.Chosen, plain.Mode = gatelatch.ModeChoice{}, ""
	m := s.modeFor(s.Read(&gatelatch.Call{Kind: gatelatch.Permission, Input: []byte("{}")}, &plain))
	return m.mode, m.source
}

// strictness is less for a stricter mode, and negative for what is none.
func strictness(m gatelatch.Mode) int { return slices.Index(gatelatch.Modes(), m) }

// modeIn returns what a file says about the mode. The section of the nearest
// project counts before the file. Where it is not certain that a session is of
// the project, it can only tighten.
func (l *layer) modeIn(f *Facts) (gatelatch.Mode, string) {
	mode, source := l.mode, l.modeAt
	nearest := 0
	for i := range l.sections {
		s := &l.sections[i]
		if s.layer.mode == "" || len(s.path) < nearest {
			continue
		}
		certain, possible := f.inSection(s)
		if certain || possible && s.layer.mode == gatelatch.ModePlan {
			nearest, mode, source = len(s.path), s.layer.mode, s.layer.modeAt
		}
	}
	return mode, source
}

// allowedByMode returns why the mode allows what no rule speaks about, nil if
// it does not.
func (s *Set) allowedByMode(f *Facts, out *said) *gatelatch.Reason {
	m := s.modeFor(f)
	does := ""
	switch m.mode {
	case gatelatch.ModeAcceptEdits:
		if f.path != nil && pathTools[f.call.Tool].writes && f.inProject(f.path.certain...) {
			does = "allows edits inside the project"
		}
	case gatelatch.ModeBypass:
		if why := f.forPeople(); why != "" {
			out.why = why
		} else {
			does = "allows what no rule speaks about"
		}
	case gatelatch.ModeDefault, gatelatch.ModePlan:
	}
	if does == "" {
		return nil
	}
	if m.choice != nil {
		out.mode = m.mode
	}
	return &gatelatch.Reason{Effect: gatelatch.Allow, Layer: m.layer, Source: m.source, Message: m.message(does)}
}

// forPeople says why a call that nothing forbids is still not allowed as a
// whole class of calls is, "" if it may be.
func (f *Facts) forPeople() string {
	switch tool := f.call.Tool; {
	case tool == "ExitPlanMode" || tool == "AskUserQuestion":
		return tool + " is for a person to answer"
	case f.shell != nil && !f.shell.facts.Readable():
		return f.askedAbout()[0].Message
	case f.shell != nil:
		if r := f.protectedCommand(); r != nil {
			return r.Message
		}
	case f.path == nil && f.web == nil:
		if r := f.protectedText(); r != nil {
			return r.Message
		}
	}
	return ""
}

// readers are tools that change nothing, or nothing but the agent's own list
// of tasks.
var readers = []string{"Read", "Glob", "Grep", "LS", "WebFetch", "TodoWrite", "TaskCreate", "TaskUpdate", "TaskList", "TaskGet"}

// onlyReads reports whether a call changes nothing. What may be read is for
// the rules to say.
func (f *Facts) onlyReads() bool {
	if f.shell != nil {
		return f.shell.facts.ReadOnly(shell.Scope{Roots: []string{"/"}})
	}
	return slices.Contains(readers, f.call.Tool)
}

// inSection reports whether the session is of a project, or may be.
func (f *Facts) inSection(s *section) (certain, possible bool) {
	r := f.folder(s.path)
	_, certain = relative(r.resolved, f.project().resolved)
	if certain {
		return true, true
	}
	for _, folder := range []string{r.foldedGiven, r.foldedResolved} {
		for _, project := range []string{f.project().foldedGiven, f.project().foldedResolved} {
			if _, inside := relative(folder, project); inside {
				return false, true
			}
		}
	}
	return false, r.given == "" // a home that is not known may be anywhere
}

// folder resolves the path of a section, once.
func (f *Facts) folder(path string) root {
	r, has := f.folders[path]
	if !has {
		full := path
		if rest, ok := strings.CutPrefix(path, "~/"); ok {
			full = ""
			if f.home().given != "" {
				full = f.home().given + "/" + rest
			}
		}
		r = f.root(full)
		if f.folders == nil {
			f.folders = map[string]root{}
		}
		f.folders[path] = r
	}
	return r
}
