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

// examples are the agents of examples/, each with how it is made ready to run.
var examples = map[string]func(t *testing.T, dir string) []string{
	"agent-go": func(t *testing.T, dir string) []string {
		bin := filepath.Join(dir, "agent-go")
		build(t, "go", "build", "-buildvcs=false", "-o", bin, "./examples/agent-go")
		return []string{bin}
	},
	"agent-python": func(*testing.T, string) []string {
		return []string{"python3", "-B", repository("examples/agent-python/agent.py")}
	},
	"agent-typescript": func(t *testing.T, dir string) []string {
		js := filepath.Join(dir, "js")
		build(t, "web/node_modules/.bin/tsc", "-p", "examples/agent-typescript", "--typeRoots", "web/node_modules/@types", "--outDir", js)
		if err := os.WriteFile(filepath.Join(js, "package.json"), []byte(`{"type": "module"}`), 0o600); err != nil {
			t.Fatal(err)
		}
		return []string{"node", filepath.Join(js, "agent.js")}
	},
}

func build(t *testing.T, name string, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir = repository("")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("can't build the example (run make test): %v\n%s", err, out)
	}
}

func repository(path string) string {
	dir, err := filepath.Abs(filepath.Join("..", path))
	if err != nil {
		panic(err)
	}
	return dir
}

// Each agent of examples/ gets its tools from the gateway and asks before each
// call. It is given the messages of docs/tools.md, killed while it waits, and
// goes on in another process, and with another gateway.
func TestExampleAgents(t *testing.T) {
	t.Parallel()
	for name, prepare := range examples {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newGateway(t)
			config := "tools:\n  agents:\n    " + name + ": {allow: [read, write, exec, forget]}\n"
			if err := os.WriteFile(filepath.Join(g.config, "config.yaml"), []byte(config), 0o600); err != nil {
				t.Fatal(err)
			}
			g.start()
			e := &example{t: t, g: g, project: filepath.Join(tempDir(t), "project"), log: new(output.Buffer)}
			if err := os.Mkdir(e.project, 0o700); err != nil {
				t.Fatal(err)
			}
			e.command = append(prepare(t, filepath.Dir(e.project)), "--state", g.state, "--project", e.project, "--session", "conversation")
			e.converses()
		})
	}
}

func (a *example) converses() {
	t, g, messages := a.t, a.g, documented(a.t)
	a.writes("notes.txt", "hello")
	first := a.starts()
	a.says(messages[0])
	a.wants("c1", true, "hello")
	a.says(messages[1])
	until(t, "two calls to wait", func() bool { return len(g.waiting()) == 2 })
	ids := g.waiting()
	first.dies()

	a.starts()
	a.writes("notes.txt", "other")
	a.says(messages[0])
	a.wants("c1", true, "hello") // it does not run again
	a.says(messages[1])
	g.stop()
	g.start()
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
	a.says(`{"id": "m4", "calls": [{"id": "c5", "tool": "Bash", "input": {"command": "rm notes.txt"}}, {"id": "c6", "tool": "Read", "input": {"file_path": "none"}}]}`)
	until(t, "a call to wait", func() bool { return len(g.waiting()) == 1 })
	g.cli("deny", g.waiting()[0], "--interrupt")
	a.wants("c5", false, "User denied the request.")
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

// example is an agent, with the test as its model.
type example struct {
	t       *testing.T
	g       *gateway
	command []string
	project string
	log     *output.Buffer

	stdin  io.WriteCloser
	stdout *bufio.Reader
}

// process is one that an example runs as.
type process struct {
	*exec.Cmd
	killed bool
}

// starts begins a process, and hears which tools the model may have.
func (a *example) starts() *process {
	a.t.Helper()
	p := &process{Cmd: exec.Command(a.command[0], a.command[1:]...)}
	p.Env, p.Dir, p.Stderr = append(cleanEnv(a.g.home), "PATH="+os.Getenv("PATH")), a.project, a.log
	stdin, err := p.StdinPipe()
	if err != nil {
		a.t.Fatal(err)
	}
	stdout, err := p.StdoutPipe()
	if err != nil {
		a.t.Fatal(err)
	}
	a.stdin, a.stdout = stdin, bufio.NewReader(stdout)
	if err := p.Start(); err != nil {
		a.t.Fatal(err)
	}
	a.t.Cleanup(func() {
		_ = stdin.Close()
		if err := p.Wait(); err != nil && !p.killed {
			a.t.Errorf("the agent ended with %v\n%s", err, a.log)
		}
	})
	for _, want := range []string{"Read", "Write", "Bash"} {
		if got := a.hears(); got["tool"] != want {
			a.t.Errorf("offered %v, want %s", got, want)
		}
	}
	return p
}

func (p *process) dies() {
	p.killed = true
	_ = p.Process.Kill()
}

func (a *example) writes(name, text string) {
	a.t.Helper()
	if err := os.WriteFile(filepath.Join(a.project, name), []byte(text), 0o600); err != nil {
		a.t.Fatal(err)
	}
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
