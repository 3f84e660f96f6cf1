package policy

import (
	"strings"
	"testing"

	"github.com/gatelatch/gatelatch"
)

// A person who wrote the rule sees why it does not do.
func TestWhatStandsInFrontIsNamed(t *testing.T) {
	t.Parallel()
	s, err := Parse("policy.yaml", []byte("version: 1\nallow: [Bash(npm test)]\nexec: {reads: allow}\n"))
	if err != nil {
		t.Fatal(err)
	}
	for command, part := range map[string]string{
		"CI=1 npm test":            "CI=1",
		"ls; LANG=C CI=1 npm test": "LANG=C CI=1",
		"FOO=bar npm test":         "FOO",
		"LD_PRELOAD=x npm test":    "LD_PRELOAD",
	} {
		v := judge(t, s, bash(command))
		if v.Effect != gatelatch.Ask || !strings.Contains(messages(v), part) {
			t.Errorf("%s: %s: %s", command, v.Effect, messages(v))
		}
	}
	if v := judge(t, s, bash("npm test")); v.Effect != gatelatch.Allow {
		t.Errorf("%s", messages(v))
	}
}

// What runs nothing does no harm.
func TestNothingToRun(t *testing.T) {
	t.Parallel()
	for command, want := range map[string]gatelatch.Effect{
		"# only a comment": gatelatch.Allow, "case x in x) ;; esac": gatelatch.Allow,
		"# a\nrm x": gatelatch.Ask, "case $(rm x) in x) ;; esac": gatelatch.Ask, "> a": gatelatch.Ask, "x=$(rm a)": gatelatch.Ask, "f() { rm x; }": gatelatch.Ask,
	} {
		if v := judge(t, Default(), bash(command)); v.Effect != want {
			t.Errorf("%s: %s: %s", command, v.Effect, messages(v))
		}
	}
	s, err := Parse("policy.yaml", []byte("version: 1\nallow: [Bash(npm test)]\n"))
	if err != nil {
		t.Fatal(err)
	}
	if v := judge(t, s, bash("# only a comment")); v.Effect != gatelatch.Ask {
		t.Error("allowed without a word about reading")
	}
}
