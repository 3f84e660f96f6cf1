package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/gatelatch/gatelatch/e2e/output"
)

// The commands in docs/api.md run as they stand, and give what it says.
func TestAPIDocs(t *testing.T) {
	t.Parallel()
	g := newGateway(t)
	g.state = filepath.Join(filepath.Dir(g.state), "gatelatch") // where the page looks for it
	g.start()
	blocks := fenced(t, "../docs/api.md")
	const mark = "=== the next block"
	var script strings.Builder
	script.WriteString("set -u\n")
	for _, b := range blocks {
		fmt.Fprintf(&script, "%s\necho; echo '%s'\n", b.commands, mark)
	}
	cmd := exec.CommandContext(t.Context(), "bash", "-c", script.String())
	cmd.Env, cmd.Dir = cleanEnv(g.home, "XDG_STATE_HOME="+filepath.Dir(g.state)), g.home
	stderr := new(output.Buffer)
	cmd.Stderr = stderr
	out, err := cmd.Output()
	if err != nil || stderr.String() != "" {
		t.Errorf("%v\n%s", err, stderr)
	}
	said := strings.Split(string(out), "\n"+mark+"\n")
	if len(said) != len(blocks)+1 {
		t.Fatalf("%d blocks gave %d outputs:\n%s", len(blocks), len(said)-1, out)
	}
	if noted, err := os.ReadDir(g.tap); err != nil || len(noted) < len(blocks) {
		t.Errorf("of this, only %d exchanges are held against the description, %v", len(noted), err)
	}
	for i, b := range blocks {
		if err := b.gives(said[i]); err != nil {
			t.Errorf("%v, from\n%s", err, b.commands)
		}
	}
}

// block is commands of a page and what it says that they give.
type block struct{ commands, kind, want string }

func fenced(t *testing.T, page string) (out []block) {
	t.Helper()
	doc, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile("(?s)```(sh|json|text)\n(.*?)```\n").FindAllStringSubmatch(string(doc), -1) {
		switch {
		case m[1] == "sh":
			out = append(out, block{commands: m[2]})
		case len(out) == 0 || out[len(out)-1].want != "":
			t.Fatalf("%s has output without commands:\n%s", page, m[2])
		default:
			out[len(out)-1].kind, out[len(out)-1].want = m[1], m[2]
		}
	}
	if len(out) < 10 {
		t.Fatalf("%s has only %d blocks", page, len(out))
	}
	return out
}

func (b block) gives(said string) error {
	if b.kind == "json" {
		var got, want any
		if err := json.Unmarshal([]byte(said), &got); err != nil {
			return fmt.Errorf("got %q: %w", said, err)
		}
		if err := json.Unmarshal([]byte(b.want), &want); err != nil {
			return err
		}
		return holds("", got, want)
	}
	if got := strings.TrimSpace(said); !wild(b.want).MatchString(got) {
		return fmt.Errorf("got\n%s\nwant\n%s", got, b.want)
	}
	return nil
}

// wild matches a text in which … stands for anything on a line.
func wild(text string) *regexp.Regexp {
	return regexp.MustCompile("^" + strings.ReplaceAll(regexp.QuoteMeta(strings.TrimSpace(text)), "…", ".+") + "$")
}

// holds reports what of want is not in got. Fields that the page does not show
// may be anything.
func holds(at string, got, want any) error {
	switch want := want.(type) {
	case map[string]any:
		has, ok := got.(map[string]any)
		if !ok {
			return fmt.Errorf("%s is %v", at, got)
		}
		for name, v := range want {
			if err := holds(at+"."+name, has[name], v); err != nil {
				return err
			}
		}
	case []any:
		has, ok := got.([]any)
		if !ok || len(has) != len(want) {
			return fmt.Errorf("%s is %v", at, got)
		}
		for i, v := range want {
			if err := holds(fmt.Sprintf("%s[%d]", at, i), has[i], v); err != nil {
				return err
			}
		}
	default:
		if !wild(fmt.Sprint(want)).MatchString(fmt.Sprint(got)) {
			return fmt.Errorf("%s is %v, not %v", at, got, want)
		}
	}
	return nil
}
