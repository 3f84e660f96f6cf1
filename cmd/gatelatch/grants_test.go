package main

import (
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/api"
)

// S3, P11: an allow that is remembered answers the next call, until it is revoked.
func TestAllowForASession(t *testing.T) {
	opt := testGateway(t)
	first := ask(t, opt, "m1", "git push origin main").Calls[0].ID
	if out := mustRun(t, opt, "show", first); !strings.Contains(out, "remember --for session Bash(git push origin main)\n") {
		t.Errorf("show suggests nothing: %s", out)
	}
	out := mustRun(t, opt, "allow", first, "--for", "session")
	said := regexp.MustCompile(`(?m)^remembers Bash\(git push origin main\) for this session; revoke with gatelatch grants revoke (gra_\w+)`).FindStringSubmatch(out)
	if said == nil {
		t.Fatalf("allow does not say what it remembers: %s", out)
	}
	second := ask(t, opt, "m2", "git push origin main").Calls[0]
	if second.State != gatelatch.Allowed {
		t.Fatalf("the same call is %s", second.State)
	}
	if out := mustRun(t, opt, "show", second.ID); !strings.Contains(out, "by the grant "+said[1]) {
		t.Errorf("show does not name the grant: %s", out)
	}
	if c := ask(t, opt, "m3", "git push origin next").Calls[0]; c.State != gatelatch.Pending {
		t.Errorf("another command is %s", c.State)
	}

	out = mustRun(t, opt, "grants")
	for _, want := range []string{shortID(said[1]), "Bash(git push origin main)", "session s", "until revoked", "used 0 s ago"} {
		if !strings.Contains(out, want) {
			t.Errorf("grants lacks %q: %s", want, out)
		}
	}
	if out := mustRun(t, opt, "grants", "revoke", shortID(said[1])); !strings.HasPrefix(out, "revoked: Bash(git push origin main)") {
		t.Errorf("revoke: %s", out)
	}
	if c := ask(t, opt, "m4", "git push origin main").Calls[0]; c.State != gatelatch.Pending {
		t.Errorf("after the revocation the call is %s", c.State)
	}
	if out := mustRun(t, opt, "grants"); out != "Nothing is remembered.\n" {
		t.Errorf("grants: %s", out)
	}
	if out := mustRun(t, opt, "grants", "--all"); !strings.Contains(out, "revoked 0 s ago") {
		t.Errorf("grants --all: %s", out)
	}
}

func TestAllowWithAMatcherAndLimits(t *testing.T) {
	opt := testGateway(t)
	id := ask(t, opt, "m1", "git commit -m one").Calls[0].ID
	const offer = "remember --for session Bash(git commit -m one)\n              or Bash(git commit:*)\n                 also allows: git commit --amend --no-verify\n"
	if out := mustRun(t, opt, "show", id); !strings.Contains(out, offer) {
		t.Errorf("show offers nothing else: %s", out)
	}
	out := mustRun(t, opt, "allow", id, "--for", "always", "--match", "Bash(git commit:*)", "--uses", "1", "--until", "2h")
	if !strings.Contains(out, "remembers Bash(git commit:*) always, for 1 call, until ") {
		t.Errorf("allow: %s", out)
	}
	var list api.Grants
	if err := json.Unmarshal([]byte(mustRun(t, opt, "grants", "--json")), &list); err != nil || len(list.Grants) != 1 {
		t.Fatalf("%+v, %v", list, err)
	}
	if g := list.Grants[0]; g.Uses != 1 || g.Until == nil || time.Until(*g.Until) > 2*time.Hour || g.Scope != "always" {
		t.Errorf("%+v", g)
	}
	if c := ask(t, opt, "m2", "git commit -m two").Calls[0]; c.State != gatelatch.Allowed {
		t.Errorf("the first use is %s", c.State)
	}
	if c := ask(t, opt, "m3", "git commit -m two").Calls[0]; c.State != gatelatch.Pending {
		t.Errorf("the second use is %s", c.State)
	}
	if out := mustRun(t, opt, "grants"); out != "Nothing is remembered.\n" {
		t.Errorf("what is used up is listed: %s", out)
	}
	if out := mustRun(t, opt, "grants", "--all"); !strings.Contains(out, "used up") {
		t.Errorf("grants --all: %s", out)
	}
}

// What can't be remembered is not decided either, and the reason is said.
func TestWhatIsNotRememberedIsNotDecided(t *testing.T) {
	opt := testGateway(t)
	plain, wrapped := ask(t, opt, "m1", "git push").Calls[0].ID, ask(t, opt, "m2", "sh -c 'git push'").Calls[0].ID
	for name, args := range map[string][]string{
		"a shell in a shell":       {wrapped, "--for", "always"},
		"no project":               {plain, "--for", "project"},
		"another command":          {plain, "--for", "session", "--match", "Bash(npm test)"},
		"no matcher at all":        {plain, "--for", "session", "--match", "what"},
		"an empty matcher":         {plain, "--for", "session", "--match", ""},
		"an unknown scope":         {plain, "--for", "ever"},
		"no scope":                 {plain, "--uses", "2"},
		"no uses":                  {plain, "--for", "session", "--uses", "0"},
		"less than no time":        {plain, "--for", "session", "--until", "-1h"},
		"a choice, without plan":   {plain, "--choice", "startEditing"},
		"another digest":           {plain, "--digest", strings.Repeat("0", 64)},
		"an input that is no JSON": {plain, "--input", os.DevNull},
	} {
		t.Run(name, func(t *testing.T) {
			out, err := command(t, opt, append([]string{"allow"}, args...)...)
			if err == nil || strings.Contains(out, "allowed") {
				t.Fatalf("%v: %q, %v", args, out, err)
			}
			if strings.Contains(err.Error(), "remembered") && !strings.Contains(hintOf(err), "nothing was decided") {
				t.Errorf("%v: hint %q", err, hintOf(err))
			}
			if c := show(t, opt, args[0]); c.State != "pending" || c.Edited != nil {
				t.Errorf("the call is %s", c.State)
			}
		})
	}
}

func TestRevokeSaysWhatItCannotFind(t *testing.T) {
	opt := testGateway(t)
	id := ask(t, opt, "m1", "git push").Calls[0].ID
	mustRun(t, opt, "allow", id, "--for", "session")
	var list api.Grants
	if err := json.Unmarshal([]byte(mustRun(t, opt, "grants", "--json")), &list); err != nil || len(list.Grants) != 1 {
		t.Fatalf("%+v, %v", list, err)
	}
	for _, id := range []string{"gra_", "x", "gra_nope0000", ""} {
		if out, err := command(t, opt, "grants", "revoke", id); err == nil || hintOf(err) == "" || out != "" {
			t.Errorf("revoke %q: %q, %v, hint %q", id, out, err, hintOf(err))
		}
	}
	out, err := command(t, opt, "grants", "revoke", "gra_nope0000", list.Grants[0].ID)
	if err == nil || !strings.Contains(out, "revoked: ") {
		t.Errorf("one that is not there kept another: %q, %v", out, err)
	}
}
