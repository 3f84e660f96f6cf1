package e2e

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gatelatch/gatelatch/e2e/output"
)

// The agent of examples/ gets its tools from the gateway and asks before each
// call. It is given the messages of docs/tools.md.
func TestExampleAgentInGo(t *testing.T) {
	t.Parallel()
	g := newGateway(t)
	if err := os.WriteFile(filepath.Join(g.config, "config.yaml"), []byte("tools:\n  agents:\n    agent-go: {allow: [read, write, exec, forget]}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	g.start()
	a := startExample(t, g)
	messages := documented(t)
	if err := os.WriteFile(filepath.Join(a.project, "notes.txt"), []byte("hello"), 0o600); err != nil {
		t.Fatal(err)
	}

	for _, want := range []string{"Read", "Write", "Bash"} {
		if got := a.hears(); got["tool"] != want {
			t.Errorf("offered %v, want %s", got, want)
		}
	}
	a.says(messages[0])
	a.wants("c1", true, "hello")

	a.says(messages[1])
	until(t, "two calls to wait", func() bool { return len(g.waiting()) == 2 })
	ids := g.waiting()
	g.cli("allow", ids[0])
	if exists(filepath.Join(a.project, "done")) || strings.Contains(string(a.file("notes.txt")), "seen") {
		t.Error("a call of the message ran while another waited")
	}
	g.cli("deny", ids[1], "--note", "not now")
	a.wants("c2", true, "written")
	a.wants("c3", false, "User denied the request: not now")
	if got := string(a.file("notes.txt")); got != "seen\n" || exists(filepath.Join(a.project, "done")) {
		t.Errorf("the file has %q", got)
	}

	a.says(messages[2])
	a.wants("c4", false, "There is no such tool.")
	if w := g.waiting(); len(w) > 0 {
		t.Errorf("a tool that was not offered was asked about: %v", w)
	}
}

// documented are the messages in docs/tools.md.
func documented(t *testing.T) []string {
	t.Helper()
	doc, err := os.ReadFile("../docs/tools.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(doc), "```jsonl\n")
	body, _, _ := strings.Cut(rest, "```")
	lines := strings.Split(strings.TrimSpace(body), "\n")
	if len(lines) != 3 {
		t.Fatalf("docs/tools.md has %d messages", len(lines))
	}
	return lines
}

// example is the agent as a process, with the test as its model.
type example struct {
	t       *testing.T
	project string
	stdin   io.Writer
	stdout  *bufio.Reader
	log     *output.Buffer
}

func startExample(t *testing.T, g *gateway) *example {
	t.Helper()
	dir := tempDir(t)
	a := &example{t: t, project: filepath.Join(dir, "project"), log: new(output.Buffer)}
	if err := os.Mkdir(a.project, 0o700); err != nil {
		t.Fatal(err)
	}
	bin := filepath.Join(dir, "agent-go")
	build := exec.CommandContext(t.Context(), "go", "build", "-buildvcs=false", "-o", bin, "./examples/agent-go")
	build.Dir = ".."
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("can't build the example: %v\n%s", err, out)
	}
	cmd := exec.Command(bin, "--state", g.state, "--project", a.project)
	cmd.Env, cmd.Dir, cmd.Stderr = cleanEnv(g.home), a.project, a.log
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	a.stdin, a.stdout = stdin, bufio.NewReader(stdout)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		stdin.Close()
		if err := cmd.Wait(); err != nil {
			t.Errorf("the agent ended with %v\n%s", err, a.log)
		}
	})
	return a
}

func (a *example) says(message string) {
	a.t.Helper()
	if _, err := io.WriteString(a.stdin, message+"\n"); err != nil {
		a.t.Fatalf("%v\n%s", err, a.log)
	}
}

// hears is the next line that the agent tells its model.
func (a *example) hears() (got map[string]any) {
	a.t.Helper()
	line, err := a.stdout.ReadBytes('\n')
	if err != nil || json.Unmarshal(line, &got) != nil {
		a.t.Fatalf("%s, %v\n%s", line, err, a.log)
	}
	return got
}

func (a *example) wants(call string, ok bool, text string) {
	a.t.Helper()
	if got := a.hears(); got["call"] != call || got["ok"] != ok || got["text"] != text {
		a.t.Errorf("got %v, want %s %v %q", got, call, ok, text)
	}
}

func (a *example) file(name string) []byte {
	a.t.Helper()
	b, err := os.ReadFile(filepath.Join(a.project, name))
	if err != nil {
		a.t.Fatal(err)
	}
	return b
}
