package policy

import (
	"path/filepath"
	"slices"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/shell"
)

// maxTouches is how many are listed. What only reads inside the project is
// left out first.
const maxTouches = 48

// touches says what a call does to what, and how much of that is not said.
func (f *Facts) touches() (list []gatelatch.Touch, more int) {
	var found []gatelatch.Touch
	switch tool := pathTools[f.call.Tool]; {
	case f.call.Kind != gatelatch.Permission:
		return nil, 0
	case f.shell != nil:
		found = f.shellTouches()
	case f.path != nil:
		found = f.pathTouches(tool)
	case f.web != nil:
		found = []gatelatch.Touch{{Does: shell.Connects.String(), What: f.web.host}}
	default:
		found = []gatelatch.Touch{{Does: shell.Unknown.String(), What: f.call.Tool}}
	}
	for _, looks := range []bool{false, true} {
		for _, t := range found {
			if toldElsewhere(t, found) {
				continue
			}
			switch plain := t.Does == shell.Reads.String() && !t.Outside && !t.Secret; {
			case plain != looks || slices.Contains(list, t):
			case len(list) == maxTouches:
				more++
			default:
				list = append(list, t)
			}
		}
	}
	return list, more
}

// toldElsewhere reports whether that something may be secret is said with what
// is done to it.
func toldElsewhere(t gatelatch.Touch, all []gatelatch.Touch) bool {
	return t.Does == shell.ShowsSecret.String() && slices.ContainsFunc(all, func(o gatelatch.Touch) bool {
		return o.Secret && o.Does != t.Does && o.Start == t.Start && o.End == t.End
	})
}

func (f *Facts) shellTouches() (out []gatelatch.Touch) {
	for _, e := range f.shell.facts.Effects {
		if general(e) && particular(f.shell.facts.Effects, e) {
			continue // a word says more
		}
		t := gatelatch.Touch{Does: e.Action.String(), What: e.Detail, Below: e.Below, Start: e.Start, End: e.End}
		if general(e) {
			t.What = "" // the detail is the program
		}
		switch e.Action {
		case shell.Reads, shell.Writes, shell.Deletes:
			if e.Path != "" {
				t.What = e.Path
			}
			t.Outside, t.Secret = !f.certainlyInside(e), shell.Secret(t.What)
		case shell.ShowsSecret:
			t.Secret = true
		default:
		}
		out = append(out, t)
	}
	return out
}

// certainlyInside reports whether the file lies inside the project, by either
// way of reading "..", with links followed.
func (f *Facts) certainlyInside(e shell.Effect) bool {
	if e.Path == "" {
		return false
	}
	for _, path := range slices.Compact([]string{e.Path, e.Place()}) {
		resolved, _, err := f.world.disk.follow(path, &f.left)
		if err != nil || f.left < 0 || !f.inProject(resolved) {
			return false
		}
	}
	return true
}

func (f *Facts) pathTouches(tool pathTool) (out []gatelatch.Touch) {
	t := gatelatch.Touch{Does: shell.Reads.String(), What: f.path.given, Outside: true, Below: tool.searches()}
	if tool.writes {
		t.Does = shell.Writes.String()
	}
	for _, path := range f.path.certain {
		t.What, t.Outside, t.Secret = filepath.ToSlash(path), !f.inProject(path), shell.Secret(path)
		out = append(out, t)
	}
	if out == nil {
		out = append(out, t)
	}
	return out
}
