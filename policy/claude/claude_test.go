package claude

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/policy"
)

var update = flag.Bool("update", false, "write testdata anew")

// The settings of all scopes, as people write them.
func TestGoldenImport(t *testing.T) {
	t.Parallel()
	var files []File
	for _, f := range []struct {
		path, project string
		scope         Scope
		data          string
	}{
		{"/etc/claude-code/managed-settings.json", "", Managed, `{"permissions":{"deny":["Bash(curl:*)","Read(//etc/shadow)","WebFetch(domain:evil.example)"],"disableBypassPermissionsMode":"disable"}}`},
		{"/srv/app/.claude/settings.local.json", "/srv/app", Local, `{"permissions":{"allow":["Bash(npm run test:*)","Bash(git * main)","Edit(/src/**)","Read(docs/*.md)","WebFetch(domain:docs.rs)","mcp__github"]}}`},
		{"/srv/app/.claude/settings.json", "/srv/app", Project, `{"permissions":{"ask":["Bash(git push:*)"],"deny":["Read(./.env)","Read(./secrets/)","Edit(*.lock)"]}}`},
		{"~/.claude/settings.json", "", User, `{"model":"opus","permissions":{"defaultMode":"acceptEdits","additionalDirectories":["/srv/notes","../x"],
			"allow":["Bash(ls:*)","Bash(npm run build)","Bash(python:*)","Bash(cat:*)","Bash","Bash(rm:*)","Bash(npm run lint*)","Bash(ls | wc)","Read(~/notes/**)","Read(//opt/**)","Edit(/x/**)","Read([ab])",
				"WebFetch","WebFetch(domain:*.example.com)","WebFetch(domain:*)","mcp__fs__read","mcp__fs__*","Agent(Explore)","Skill(commit)","TodoWrite","Broken(x"],
			"deny":["Bash(rm*)","Bash(* --force)","Bash(sudo *)","Bash(dd if=/dev/zero of=*)","Bash(curl * | sh)","Read(.env*)","Read(!x)","Read(a/[b]/c)","Write(/etc/**)","Agent(Plan)","Skill(deploy:*)","mcp__db__drop","Broken(y"]}}`},
	} {
		got, err := Parse(f.path, f.scope, f.project, []byte(f.data))
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, got)
	}
	got := Convert(files).YAML()
	if _, err := policy.Parse("policy.yaml", got); err != nil {
		t.Errorf("%v\n%s", err, got)
	}
	file := filepath.Join("testdata", "import.golden")
	if *update {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("run with -update if this is right:\n%s", diff)
	}
}

func settings(t *testing.T, data string) *Import {
	t.Helper()
	f, err := Parse("s.json", User, "", []byte(data))
	if err != nil {
		t.Fatal(err)
	}
	return Convert([]File{f})
}

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	for _, data := range []string{"", "[]", `{"permissions":{"allow":"Bash"}}`, `{"permissions":{"allow":[1]}}`, `{"permissions":{},"permissions":{"deny":["Bash"]}}`, `{"permissions":{"deny":[],"Deny":["Bash"]}}`} {
		if f, err := Parse("s.json", User, "", []byte(data)); err == nil {
			t.Errorf("%s: %+v", data, f)
		}
	}
	if f, err := Parse("s.json", User, "", []byte("\uFEFF{\"permissions\":{\"deny\":[\"Bash\"]}}")); err != nil || len(f.Deny) != 1 {
		t.Errorf("with a byte order mark: %+v, %v", f, err)
	}
}

// Where only managed rules count, the others allow nothing, and still deny.
func TestManagedRulesOnly(t *testing.T) {
	t.Parallel()
	m, err := Parse("m.json", Managed, "", []byte(`{"allowManagedPermissionRulesOnly":true,"permissions":{"allow":["Bash(make lint)"]}}`))
	if err != nil {
		t.Fatal(err)
	}
	u, err := Parse("u.json", User, "", []byte(`{"allowManagedPermissionRulesOnly":true,"permissions":{"allow":["Bash(make)"],"deny":["Read"],"additionalDirectories":["/x"]}}`))
	if err != nil {
		t.Fatal(err)
	}
	im := Convert([]File{u, m})
	var got []string
	for _, r := range im.Rules {
		got = append(got, r.Effect.String()+" "+r.Text)
	}
	if want := []string{"deny Read", "allow Bash(make lint)"}; !slices.Equal(got, want) || len(im.Left) != 2 {
		t.Errorf("got %v, left %v", got, im.Left)
	}
	if alone := Convert([]File{u}); len(alone.Left) != 0 {
		t.Errorf("only managed settings can say so: %v", alone.Left)
	}
}

// A text from a settings file can't leave its comment.
func TestCommentsHold(t *testing.T) {
	t.Parallel()
	im := settings(t, `{"permissions":{"allow":["Bash(x)\nallow:\n  - Bash\n#","Bash(a;\u2028b)","Bash(a\u0085: b)"]}}`)
	set, err := policy.Parse("policy.yaml", im.YAML())
	if err != nil || len(set.Rules()) != 0 || len(im.Left) != 3 {
		t.Errorf("%v\n%s", err, im.YAML())
	}
}

// Every deny and ask is there in some form, whatever it says.
func TestNoDenyIsLost(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"Bash", "Bash(rm -rf /)", "Bash(rm*)", "Bash(*)", "Bash(* *)", "Bash()", "Bash(a;b)", "Bash(a\nb)", "Bash('x)", "Read", "Read(**)", "Read(/)", "Read(..)", "Read(a/../b)", "Read({a})", "Read(\\x)", "Read(!)",
		"Edit([)", "Edit(~)", "Edit(~/)", "Edit(//)", "Write(x)", "NotebookEdit", "WebFetch", "WebFetch(domain:)", "WebFetch(domain:a*b)", "WebFetch(x)", "WebFetch(domain:münchen.de)", "mcp__", "mcp__a", "mcp__*", "mcp__a__b(c:d)",
		"Agent(model:opus)", "Skill(a)", "Skill(a*)", "x y", "(", ")", "", "*", "Bash(" + strings.Repeat("a", 10_000) + ")",
	} {
		f := File{Path: "s.json", Scope: User, Deny: []string{text}, Ask: []string{text}}
		im := Convert([]File{f})
		set, err := policy.Parse("policy.yaml", im.YAML())
		if err != nil {
			t.Errorf("%q: %v\n%s", text, err, im.YAML())
			continue
		}
		n := map[gatelatch.Effect]int{}
		for _, r := range set.Rules() {
			n[r.Effect]++
		}
		if n[gatelatch.Deny] == 0 || n[gatelatch.Ask] == 0 || len(im.Left) > 0 {
			t.Errorf("%q: %v\n%s", text, n, im.YAML())
		}
	}
}
