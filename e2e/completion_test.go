package e2e

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// completes is what real bash offers at the end of a line.
const completes = `
_get_comp_words_by_ref() { # of the package bash-completion, as far as it is used
	words=("${COMP_WORDS[@]}"); cword=$COMP_CWORD
	cur=${words[cword]}; prev=${words[cword-1]}
}
compopt() { :; } # works only while a person completes
source <(gatelatch completion bash) || exit 1
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMP_LINE="$*"; COMP_POINT=${#COMP_LINE}; COMP_TYPE=9
$(complete -p gatelatch | sed 's/.*-F \([^ ]*\).*/\1/') gatelatch "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD-1]}"
printf '%s\n' "${COMPREPLY[@]}"
`

func TestShellsCompleteIDs(t *testing.T) {
	t.Parallel()
	g := startGateway(t, "")
	d := newDrafter(t, g)
	first, second := d.propose("m1", d.bash("git push")).Calls[0].ID, d.propose("m2", d.bash("git pull")).Calls[0].ID
	g.cli("allow", first, "--for", "session")
	env := cleanEnv(g.home)
	env[0] = "PATH=" + filepath.Dir(need(t, product).gatelatch) + ":/usr/bin:/bin"
	offers := func(words ...string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "bash", append([]string{"--norc", "-c", completes, "bash", "gatelatch"}, words...)...)
		cmd.Env = env
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("bash: %v\n%s", err, out)
		}
		return strings.Join(strings.Fields(string(out)), " ")
	}
	short := func(id string) string { return id[:14] }
	if got := offers("deny", "--state", g.state, "cal_"); got != short(second) {
		t.Errorf("deny offers %q, not %q", got, short(second))
	}
	if got := offers("deny", "--state", g.state, short(second)[:6]); got != short(second) {
		t.Errorf("deny offers %q", got)
	}
	if got := offers("show", "--state", g.state, "cal_"); !strings.Contains(got, short(first)) || !strings.Contains(got, short(second)) {
		t.Errorf("show offers %q", got)
	}
	if got := offers("mode", "--state", g.state, "d"); !strings.HasPrefix(got, d.session.ID) {
		t.Errorf("mode offers %q", got)
	}
	if got := offers("mode", d.session.ID, "b"); got != "bypassPermissions" {
		t.Errorf("mode offers %q", got)
	}
	if got := offers("grants", "revoke", "--state", g.state, ""); !strings.HasPrefix(got, "gra_") {
		t.Errorf("grants revoke offers %q", got)
	}
	if got := offers("allow", "--for", "p"); got != "project" {
		t.Errorf("--for offers %q", got)
	}
	if got := offers("watc"); got != "watch" {
		t.Errorf("%q", got)
	}
	g.stop()
	if got := offers("deny", "--state", g.state, ""); got != "" {
		t.Errorf("without a gateway: %q", got)
	}
	for shell, check := range map[string][]string{"zsh": {"zsh", "-n"}, "bash": {"bash", "-n"}} {
		script := exec.CommandContext(t.Context(), check[0], check[1:]...)
		script.Stdin = strings.NewReader(completion(t, env, shell))
		if out, err := script.CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", shell, err, out)
		}
	}
}

func completion(t *testing.T, env []string, shell string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), need(t, product).gatelatch, "completion", shell)
	cmd.Env = env
	out, err := cmd.Output()
	if err != nil || len(out) < 1000 {
		t.Fatalf("completion %s: %v, %d bytes", shell, err, len(out))
	}
	return string(out)
}
