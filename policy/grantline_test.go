package policy

import (
	"slices"
	"strings"
	"testing"

	"github.com/gatelatch/gatelatch"
)

func TestParts(t *testing.T) {
	t.Parallel()
	for match, want := range map[string][]string{
		"":                                {""},
		"Edit":                            {"Edit"},
		"Bash(git log)":                   {"Bash(git log)"},
		"Bash(git log:*) + Bash(ls)":      {"Bash(git log:*)", "Bash(ls)"},
		"Bash(a) + Bash(b) + Bash(c)":     {"Bash(a)", "Bash(b)", "Bash(c)"},
		"Bash(a 'x) + Bash(y')":           {"Bash(a 'x) + Bash(y')"},
		`Bash(a "x) + Bash(y" z)`:         {`Bash(a "x) + Bash(y" z)`},
		"Bash(a 'x) + Bash(y') + Bash(b)": {"Bash(a 'x) + Bash(y')", "Bash(b)"},
		"Bash(a) + Read(b)":               {"Bash(a) + Read(b)"},
		"Bash(a)+Bash(b)":                 {"Bash(a)+Bash(b)"},
	} {
		if got := Parts(match); !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", match, got, want)
		}
	}
}

// Trap 6: what is remembered of a line with several commands names each of them,
// and nothing that is not in it.
func TestSeveralCommandsAreRememberedTogether(t *testing.T) {
	t.Parallel()
	top := tree(t)
	s := rules(t, "allow: [Bash(pwd)]\ndeny: ['Bash(rm:*)']")
	c, sess := in(top, "Bash", map[string]any{"command": "git fetch origin && git push origin main"})
	for match, want := range map[string]string{
		"Bash(git fetch origin) + Bash(git push origin main)":                   "",
		"Bash(git push origin main) + Bash(git fetch origin)":                   "",
		"Bash(git fetch origin)":                                                "does not cover",
		"Bash(git push origin main)":                                            "does not cover",
		"Bash(git fetch origin) + Bash(git push origin next)":                   "is for nothing",
		"Bash(git fetch origin) + Bash(git push origin main) + Bash(git tag x)": "is for nothing",
		"Bash(git fetch origin) + Bash(git push:*)":                             "may do anything",
		"Bash(git fetch origin) + Bash(sh x)":                                   "runs",
		"Bash(git fetch origin) + Read(/x)":                                     "",
		"Bash(a) + Bash(b) + Bash(c) + Bash(d) + Bash(e)":                       "at most 4",
	} {
		err := s.Covers(match, c, sess, here)
		if ok := want == "" && !strings.Contains(match, "Read"); (err == nil) != ok || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", match, err, want)
		}
	}
	grants := granted(here, "Bash(git fetch origin) + Bash(git push origin main)")
	for command, want := range map[string]gatelatch.Effect{
		"git fetch origin && git push origin main": gatelatch.Allow,
		"git push origin main":                     gatelatch.Allow,
		"pwd; git fetch origin":                    gatelatch.Allow,
		"git push origin next":                     gatelatch.Ask,
		"git fetch origin && git push origin next": gatelatch.Ask,
		"git fetch origin && git tag x":            gatelatch.Ask,
		"git fetch origin && rm x":                 gatelatch.Deny,
		"cd .. && git push origin main":            gatelatch.Ask, // outside the project
	} {
		c, sess := in(top, "Bash", map[string]any{"command": command})
		if v := s.Judge(t.Context(), c, sess, grants); v.Effect != want {
			t.Errorf("%s is %s, want %s", command, v.Effect, want)
		}
	}
	if v := s.Judge(t.Context(), call("WebSearch", `{}`), sess, grants); v.Effect != gatelatch.Ask {
		t.Errorf("another tool is %s", v.Effect)
	}
}
