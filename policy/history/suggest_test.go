package history

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/policy"
)

func suggest(t testing.TB, set *policy.Set, rs ...Record) []Suggestion {
	t.Helper()
	s, err := Suggest(t.Context(), set, of(rs...), SuggestOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return s.Rules
}

func texts(ss []Suggestion) (out []string) {
	for _, s := range ss {
		out = append(out, fmt.Sprintf("%s saves %d", s.Rule, s.Saves))
	}
	return out
}

func TestSuggestTheNarrowest(t *testing.T) {
	t.Parallel()
	set := rules(t, "ask: ['Bash(git push:*)']\n")
	edit := func(name string, state gatelatch.State) Record {
		return record("Edit", "file_path", "/srv/app/"+name, state)
	}
	mcp := record("mcp__github__list_issues", "repo", "a", gatelatch.Allowed)
	for name, tt := range map[string]struct {
		history []Record
		want    []string
	}{
		"the same again":                      {times(5, allowed("cargo check")), []string{"Bash(cargo check) saves 5"}},
		"once is no habit":                    {[]Record{allowed("cargo check")}, nil},
		"quotes stay words":                   {times(2, allowed("grep 'a b' x")), []string{"Bash(grep 'a b' x) saves 2"}},
		"different words behind the same":     {[]Record{allowed("git add a"), allowed("git add b"), allowed("git add c d")}, []string{"Bash(git add:*) saves 3"}},
		"two are not many":                    {slices.Concat(times(2, allowed("git add a")), times(2, allowed("git add b"))), []string{"Bash(git add a) saves 2", "Bash(git add b) saves 2"}},
		"as long a beginning as all have":     {[]Record{allowed("git commit -m a"), allowed("git commit -m b"), allowed("git commit -m c")}, []string{"Bash(git commit -m:*) saves 3"}},
		"no beginning that could do anything": {[]Record{allowed("make a"), allowed("make b"), allowed("make c")}, nil},
		"never what runs its arguments":       {times(9, allowed("python x.py")), nil},
		"never a file that may change":        {times(9, allowed("./x.sh")), nil},
		"never a pipe":                        {times(9, allowed("ls | tee x")), nil},
		"not what a rule asks about":          {times(9, allowed("git push")), nil},
		"not what a person refused once":      {append(times(9, allowed("cargo publish")), denied("cargo publish")), nil},
		"a refusal narrows":                   {append(slices.Concat(times(3, allowed("git add a")), times(3, allowed("git add b")), times(3, allowed("git add c"))), denied("git add .env")), []string{"Bash(git add a) saves 3", "Bash(git add b) saves 3", "Bash(git add c) saves 3"}},
		"the folder of many files":            {[]Record{edit("src/a.go", gatelatch.Allowed), edit("src/b.go", gatelatch.Allowed), edit("src/c/d.go", gatelatch.Allowed)}, []string{"Edit(/srv/app/src/**) saves 3"}},
		"not a folder with a refusal in it":   {[]Record{edit("a", gatelatch.Allowed), edit("b", gatelatch.Allowed), edit("c", gatelatch.Allowed), edit("d", gatelatch.Denied)}, nil},
		"not a protected path":                {times(4, edit(".git/hooks/x", gatelatch.Allowed)), nil},
		"an MCP tool":                         {times(4, mcp), []string{"mcp__github__list_issues saves 4"}},
		"not a tool that runs code":           {times(4, record("mcp__x__exec", "y", "z", gatelatch.Allowed)), nil},
		"a host":                              {times(2, record("WebFetch", "url", "https://Docs.example.com/x", gatelatch.Allowed)), []string{"WebFetch(domain:docs.example.com) saves 2"}},
		"not a host with a refusal below it":  {append(times(3, record("WebFetch", "url", "https://example.com/x", gatelatch.Allowed)), record("WebFetch", "url", "https://evil.example.com/", gatelatch.Denied)), nil},
		"what saves most comes first":         {slices.Concat(times(2, allowed("cargo check")), times(3, allowed("cargo doc"))), []string{"Bash(cargo doc) saves 3", "Bash(cargo check) saves 2"}},
	} {
		if got := texts(suggest(t, set, tt.history...)); !slices.Equal(got, tt.want) {
			t.Errorf("%s: got %q, want %q", name, got, tt.want)
		}
	}
}

// Nobody answered these, so they are no reason for a rule, but it lets them by.
func TestSuggestSaysWhatElse(t *testing.T) {
	t.Parallel()
	expired := allowed("cargo check")
	expired.State, expired.By = gatelatch.Expired, string(gatelatch.ClockActor)
	got := suggest(t, rules(t, ""), append(times(2, allowed("cargo check")), expired)...)
	if len(got) != 1 || got[0].Undecided != 1 || got[0].Saves != 2 || len(got[0].Examples) != 1 || got[0].Also == "" {
		t.Errorf("%+v", got)
	}
	if got := suggest(t, rules(t, ""), times(9, expired)...); len(got) != 0 {
		t.Errorf("what nobody answered: %+v", got)
	}
}

// What was refused by another name today is the same file.
func TestSuggestFollowsLinks(t *testing.T) {
	t.Parallel()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("secret", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	at := func(name string, state gatelatch.State) Record {
		r := record("Read", "file_path", filepath.Join(dir, name), state)
		r.Project, r.Dir = dir, dir
		return r
	}
	history := times(3, at("secret", gatelatch.Allowed))
	if got := suggest(t, rules(t, ""), history...); len(got) != 1 {
		t.Errorf("before: %+v", got)
	}
	if got := suggest(t, rules(t, ""), append(history, at("link", gatelatch.Denied))...); len(got) != 0 {
		t.Errorf("after: %+v", got)
	}
}

// What was refused lay in the folder as it was written, wherever its link leads
// today.
func TestSuggestReadsPathsAsWritten(t *testing.T) {
	t.Parallel()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	at := func(name string, state gatelatch.State) Record {
		r := record("Read", "file_path", filepath.Join(dir, name), state)
		r.Project, r.Dir = dir, dir
		return r
	}
	history := []Record{at("a", gatelatch.Allowed), at("b", gatelatch.Allowed), at("c", gatelatch.Allowed)}
	if got := suggest(t, rules(t, ""), history...); len(got) != 1 {
		t.Errorf("before: %+v", got)
	}
	if err := os.Symlink("/elsewhere", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	if got := suggest(t, rules(t, ""), append(history, at("link", gatelatch.Denied))...); len(got) != 0 {
		t.Errorf("after: %+v", got)
	}
}

// A link that was there when a person refused is gone, or another is there now:
// either reading that allows counts.
func TestBacktestReadsWhatWasRefusedTwice(t *testing.T) {
	t.Parallel()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/elsewhere", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	r := record("Read", "file_path", filepath.Join(dir, "link", "x"), gatelatch.Denied)
	r.Project, r.Dir = dir, dir
	set := rules(t, "allow: [Read(./**)]\n")
	res, err := Backtest(t.Context(), set, of(r), nil)
	if err != nil || res.Safe() {
		t.Errorf("as written it is inside the project: %+v, %v", res, err)
	}
	r.State = gatelatch.Allowed
	if res, err = Backtest(t.Context(), set, of(r), nil); err != nil || res.AsksAfter != 1 {
		t.Errorf("today it leads out: %+v, %v", res, err)
	}
}

// Whatever the history, no suggestion allows what a person refused, and they
// save as many questions as they say.
func TestSuggestionsHoldInABacktest(t *testing.T) {
	t.Parallel()
	commands := []string{
		"git status", "git status -s", "git status -b", "git add a", "git add b", "git add c", "git commit -m x", "git commit -m 'y z'", "git commit --amend",
		"cargo check", "make test", "rm -rf x", "git push", "ls | wc", "python x", "FOO=1 make", "git add '*'", "git add ':*'",
	}
	rapid.Check(t, func(t *rapid.T) {
		history := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Record {
			state := rapid.SampledFrom([]gatelatch.State{gatelatch.Allowed, gatelatch.Allowed, gatelatch.Allowed, gatelatch.Denied}).Draw(t, "state")
			switch tool := rapid.SampledFrom([]string{"Bash", "Bash", "Edit", "Read", "mcp__a__b"}).Draw(t, "tool"); tool {
			case "Bash":
				return record("Bash", "command", rapid.SampledFrom(commands).Draw(t, "command"), state)
			case "mcp__a__b":
				return record(tool, "x", "y", state)
			default:
				return record(tool, "file_path", rapid.StringMatching(`/srv/app/[ab]/[ab*\]{]{0,2}[a-d]`).Draw(t, "path"), state)
			}
		}), 0, 60).Draw(t, "history")
		got, err := Suggest(context.Background(), rules(t, ""), of(history...), SuggestOptions{})
		if err != nil {
			t.Fatal(err)
		}
		text, saves := "allow:\n", 0
		for _, s := range got.Rules {
			text += fmt.Sprintf("  - %q\n", s.Rule)
			saves += s.Saves
		}
		res, err := Backtest(context.Background(), rules(t, text), of(history...), nil)
		if err != nil {
			t.Fatal(err)
		}
		if !res.Safe() || res.Vanish != saves || got.Asks != res.AsksBefore {
			t.Fatalf("%s: says %d of %d, saves %d, opens %+v", text, saves, got.Asks, res.Vanish, res.Opened)
		}
	})
}
