package gatelatch_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/internal/strictjson"
	"github.com/gatelatch/gatelatch/policy"
	"github.com/gatelatch/gatelatch/store/memory"
)

// bound is a project on disk whose agent asks about everything but "pwd".
type bound struct {
	*testing.T
	gate          *gatelatch.Gate
	agent, person *gatelatch.Seat
	dir, host     string
	asked         int
}

func newBound(t *testing.T) *bound {
	rules, err := policy.Parse("policy.yaml", []byte("version: 1\nallow: ['Bash(pwd)', 'Edit(./free/**)']\n"))
	if err != nil {
		t.Fatal(err)
	}
	store := memory.New(memory.Options{})
	t.Cleanup(func() { _ = store.Close() })
	t.Setenv("HOME", t.TempDir())
	b := &bound{T: t, gate: gatelatch.New(store, rules), dir: t.TempDir()}
	b.gate.Binder = policy.NewBinder()
	b.agent, b.person = b.gate.As(agentA), b.gate.As(mira)
	if b.host, err = os.Hostname(); err != nil {
		t.Fatal(err)
	}
	return b
}

func (b *bound) write(name, text string) {
	b.Helper()
	// Without truncating, which file systems answer by writing to the disk at once.
	f, err := os.OpenFile(filepath.Join(b.dir, name), os.O_CREATE|os.O_WRONLY, 0o600)
	if err == nil {
		_, err = f.WriteString(text)
	}
	if err := errors.Join(err, f.Truncate(int64(len(text))), f.Close()); err != nil {
		b.Fatal(err)
	}
}

func (b *bound) proposal(calls ...gatelatch.ProposedCall) gatelatch.Proposal {
	b.asked++
	for i := range calls {
		calls[i].Ref, calls[i].Dir = fmt.Sprintf("ref%d.%d", b.asked, i), b.dir
	}
	return gatelatch.Proposal{
		Session: gatelatch.SessionInfo{ID: "s", Project: b.dir, Host: b.host},
		Message: fmt.Sprintf("m%d", b.asked), Calls: calls,
	}
}

func (b *bound) propose(p gatelatch.Proposal) *gatelatch.Batch {
	b.Helper()
	batch, err := b.agent.Propose(b.Context(), p)
	if err != nil {
		b.Fatal(err)
	}
	return batch
}

func (b *bound) allow(batch *gatelatch.Batch, terms *gatelatch.Terms) {
	b.Helper()
	for _, c := range batch.Calls {
		if _, err := b.person.Decide(b.Context(), c.ID, gatelatch.Decision{State: gatelatch.Allowed, Digest: c.Digest, Remember: terms}); err != nil {
			b.Fatal(err)
		}
	}
}

func use(tool string, fields map[string]any) gatelatch.ProposedCall {
	input, err := strictjson.Marshal(fields)
	if err != nil {
		panic(err)
	}
	return gatelatch.ProposedCall{Tool: tool, Input: input}
}

func runs(command string) gatelatch.ProposedCall {
	return use("Bash", map[string]any{"command": command})
}

// SEC-25: what a file says when it was asked about is what runs, or nothing does.
func TestSwappedFileNeverRuns(t *testing.T) {
	b := newBound(t)
	edit := use("Edit", map[string]any{"file_path": filepath.Join(b.dir, "a.txt"), "old_string": "a", "new_string": "b"})
	ways := []gatelatch.ProposedCall{
		edit, runs("bash x.sh"), runs("cd sub && ../x.sh"), runs("python3 link.py --go"), runs("bash < x.sh"), runs("timeout 9 sh later.sh"),
		use("Write", map[string]any{"file_path": filepath.Join(b.dir, "later.sh"), "content": "x"}),
	}
	// The ways to take an allow: at once, one by one, and by proposing again.
	takes := []func(gatelatch.Proposal, *gatelatch.Batch) (ran bool){
		func(_ gatelatch.Proposal, batch *gatelatch.Batch) bool {
			got, err := b.agent.Await(t.Context(), batch.ID, hold("h"))
			return err != nil || got.Calls[0].Consumed != nil
		},
		func(_ gatelatch.Proposal, batch *gatelatch.Batch) bool {
			got, err := b.agent.Await(t.Context(), batch.ID, gatelatch.Hold{Holder: "h"})
			if err != nil {
				return true
			}
			_, err = b.agent.Consume(t.Context(), gatelatch.Take{Batch: batch.ID, Call: got.Calls[0].ID, Fence: got.Opened.Fence, Digest: got.Calls[0].Digest, Nonce: "n"})
			return !errors.Is(err, gatelatch.ErrSettled)
		},
		func(p gatelatch.Proposal, batch *gatelatch.Batch) bool {
			p.Hold = hold("h")
			got, err := b.agent.Propose(t.Context(), p)
			return err != nil || got.Calls[0].Consumed != nil
		},
	}
	if err := os.Mkdir(filepath.Join(b.dir, "sub"), 0o700); err != nil {
		t.Fatal(err)
	}
	denied := 0
	const swaps = 1000
	for i := range swaps {
		for _, name := range []string{"a.txt", "x.sh", "one.py", "two.py"} {
			b.write(name, name)
		}
		_ = os.Remove(filepath.Join(b.dir, "later.sh"))
		b.link("one.py")
		p := b.proposal(ways[i%len(ways)])
		batch := b.propose(p)
		b.allow(batch, nil)
		before := batch.Calls[0].Digest
		for _, name := range []string{"a.txt", "x.sh", "later.sh"} {
			b.write(name, fmt.Sprint("swapped ", i))
		}
		b.link("two.py")
		if takes[i%len(takes)](p, batch) {
			t.Fatalf("swap %d of %s ran", i, p.Calls[0].Input)
		}
		got, err := b.agent.Batch(t.Context(), batch.ID)
		if err != nil {
			t.Fatal(err)
		}
		if c := got.Calls[0]; c.State == gatelatch.Revoked && strings.Contains(c.Answer(), "changed since this was asked about; ask again") && c.Digest == before {
			denied++
		}
	}
	if denied != swaps {
		t.Errorf("%d of %d were denied", denied, swaps)
	}
}

func (b *bound) link(to string) {
	b.Helper()
	name := filepath.Join(b.dir, "link.py")
	_ = os.Remove(name)
	if err := os.Symlink(to, name); err != nil {
		b.Fatal(err)
	}
}

func TestUnchangedFileRuns(t *testing.T) {
	b := newBound(t)
	b.write("x.sh", "echo")
	batch := b.propose(b.proposal(runs("bash x.sh")))
	b.allow(batch, nil)
	b.write("x.sh", "echo") // the same again
	got, err := b.agent.Await(t.Context(), batch.ID, hold("h"))
	if err != nil || got.Calls[0].Consumed == nil {
		t.Fatalf("%v, %s", err, got.Calls[0].Answer())
	}
	c := batch.Calls[0]
	want := gatelatch.File{Path: "x.sh", Real: filepath.Join(b.dir, "x.sh"), Sum: gatelatch.SumOf([]byte("echo"))}
	if c.Bound == nil || len(c.Bound.Files) != 1 || c.Bound.Files[0] != want || c.Bound.Unbound != "" {
		t.Errorf("got %+v", c.Bound)
	}
}

// Two edits of one file in a batch: the first makes the second's file another.
func TestBatchMayWriteAFileTwice(t *testing.T) {
	b := newBound(t)
	b.write("a.txt", "1")
	edit := func(to string) gatelatch.ProposedCall {
		return use("Edit", map[string]any{"file_path": filepath.Join(b.dir, "a.txt"), "old_string": "1", "new_string": to})
	}
	batch := b.propose(b.proposal(edit("2"), edit("3"), runs("sh a.txt")))
	b.allow(batch, nil)
	results, err := gatelatch.RunBatch(t.Context(), b.agent, batch.ID, gatelatch.Hold{Holder: "h"}, func(_ context.Context, r *gatelatch.Running) ([]byte, error) {
		b.write("a.txt", string(r.Input))
		return nil, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []gatelatch.State{gatelatch.Allowed, gatelatch.Allowed, gatelatch.Revoked} {
		if results[i].State != want {
			t.Errorf("%d: %s, %s", i, results[i].State, results[i].Output)
		}
	}
}

// Who asks again gets the decision for what was shown, and no other.
func TestParkedDecisionIsForTheSameContent(t *testing.T) {
	b := newBound(t)
	for _, swapped := range []bool{false, true} {
		b.write("x.sh", "echo")
		p := b.proposal(runs("bash x.sh"))
		batch := b.propose(p)
		if err := b.agent.Park(t.Context(), batch.ID, false); err != nil {
			t.Fatal(err)
		}
		b.allow(batch, nil)
		if swapped {
			b.write("x.sh", "rm -rf ~")
		}
		again := b.proposal(runs("bash x.sh"))
		again.Hold = hold(again.Message)
		if got := b.propose(again).Calls[0]; (got.State == gatelatch.Allowed) == swapped || (got.Consumed != nil) == swapped {
			t.Errorf("swapped %t: %s", swapped, got.State)
		}
	}
}

func TestEditedInputIsBoundAnew(t *testing.T) {
	b := newBound(t)
	b.write("x.sh", "echo")
	b.write("y.sh", "echo y")
	batch := b.propose(b.proposal(runs("bash x.sh")))
	c := batch.Calls[0]
	batch, err := b.person.Edit(t.Context(), c.ID, c.Digest, runs("bash y.sh").Input)
	if err != nil {
		t.Fatal(err)
	}
	b.allow(batch, nil)
	b.write("y.sh", "rm")
	got, err := b.agent.Await(t.Context(), batch.ID, hold("h"))
	if err != nil || got.Calls[0].State != gatelatch.Revoked {
		t.Errorf("%v, %s", err, got.Calls[0].State)
	}
}

// What rules settle is judged at that moment, and costs no look at files.
func TestOnlyWhatIsAskedIsBound(t *testing.T) {
	b := newBound(t)
	b.write("x.sh", "echo")
	free := use("Edit", map[string]any{"file_path": filepath.Join(b.dir, "free/a"), "old_string": "a", "new_string": "b"})
	for _, c := range b.propose(b.proposal(runs("pwd"), free)).Calls {
		if c.State != gatelatch.Allowed || c.Bound != nil {
			t.Errorf("%s: %s, %+v", c.Tool, c.State, c.Bound)
		}
	}
	if c := b.propose(b.proposal(runs("touch x"))).Calls[0]; c.State != gatelatch.Pending || c.Bound != nil {
		t.Errorf("%s, %+v", c.State, c.Bound)
	}
}

func TestContentThatCantBeBoundIsMarked(t *testing.T) {
	b := newBound(t)
	b.write("x.sh", "echo")
	for command, want := range map[string]gatelatch.Unbound{
		"make": gatelatch.UnboundCode, "npm run build": gatelatch.UnboundCode, "cat x.sh | sh": gatelatch.UnboundCode,
		"bash $F": gatelatch.UnboundCode, "python3 -m http.server": gatelatch.UnboundCode, "source x.sh": gatelatch.UnboundCode,
		"bash .": gatelatch.UnboundFile, "python3 -c 'print(1)'": "", "bash x.sh": "", "git push": "",
	} {
		c := b.propose(b.proposal(runs(command))).Calls[0]
		var got gatelatch.Unbound
		if c.Bound != nil {
			got = c.Bound.Unbound
		}
		if got != want {
			t.Errorf("%s: got %q", command, got)
		}
	}
	b.host = "elsewhere"
	p := b.proposal(runs("bash x.sh"))
	p.Session.ID = "far"
	if got := b.propose(p).Calls[0].Bound; got == nil || got.Unbound != gatelatch.UnboundMachine || len(got.Files) != 0 {
		t.Errorf("got %+v", got)
	}
}

// SEC-26: an allow that is remembered for an MCP tool is for that server.
func TestGrantIsForTheServerItWasMadeFor(t *testing.T) {
	const first = `{"mcpServers": {"fs": {"type": "stdio", "command": "npx", "args": ["fs", "/data"], "env": {"K": "1"}}, "other": {"command": "x"}}}`
	for name, changed := range map[string]string{
		"command": strings.Replace(first, `npx`, `./npx`, 1),
		"args":    strings.Replace(first, `/data`, `/`, 1),
		"env":     strings.Replace(first, `"1"`, `"2"`, 1),
		"type":    strings.Replace(first, `stdio`, `sse`, 1),
		"url":     `{"mcpServers": {"fs": {"type": "http", "url": "https://fs.example"}}}`,
		"headers": strings.Replace(first, `"env"`, `"headers": {"A": "b"}, "env"`, 1),
		"gone":    `{}`,
		"broken":  `{"mcpServers": `,
		"twice":   strings.Replace(first, `"other"`, `"f.s"`, 1),
	} {
		t.Run(name, func(t *testing.T) {
			b := newBound(t)
			tool := "mcp__fs__read"
			if name == "twice" { // both are f_s in the name of a tool
				tool = "mcp__f_s__read"
				b.write(".mcp.json", strings.Replace(first, `"fs":`, `"f s":`, 1))
				changed = strings.Replace(changed, `"fs":`, `"f s":`, 1)
			} else {
				b.write(".mcp.json", first)
			}
			ask := use(tool, map[string]any{"path": "a"})
			b.allow(b.propose(b.proposal(ask)), &gatelatch.Terms{Scope: gatelatch.ForProject, Match: tool})
			// As often as the same server is there, in whatever order it is written.
			b.write(".mcp.json", strings.Replace(string(b.read(".mcp.json")), `"type": "stdio", "command": "npx"`, `"command": "npx", "type": "stdio"`, 1))
			if got := b.propose(b.proposal(ask)).Calls[0]; got.State != gatelatch.Allowed {
				t.Fatalf("the same server: %s, %+v", got.State, got.Verdict)
			}
			b.write(".mcp.json", changed)
			got := b.propose(b.proposal(ask)).Calls[0]
			if got.State != gatelatch.Pending || !strings.Contains(got.Verdict.Reasons[0].Message, "the server changed since mira allowed this: npx fs /data (") {
				t.Errorf("%s, %+v", got.State, got.Verdict.Reasons)
			}
		})
	}
}

func (b *bound) read(name string) []byte {
	b.Helper()
	raw, err := os.ReadFile(filepath.Join(b.dir, name))
	if err != nil {
		b.Fatal(err)
	}
	return raw
}

// The arguments of a server are kept with grants and shown, their secrets not.
func TestServerKeepsNoSecret(t *testing.T) {
	b := newBound(t)
	secret := "ghp_" + strings.Repeat("aB3", 12)
	b.write(".mcp.json", `{"mcpServers": {"fs": {"command": "npx", "args": ["fs", "--token", "`+secret+`"]}}}`)
	b.write(secret+".sh", "echo")
	batch := b.propose(b.proposal(use("mcp__fs__read", map[string]any{}), runs("sh "+secret+".sh")))
	raw, err := strictjson.Marshal([]*gatelatch.Bound{batch.Calls[0].Bound, batch.Calls[1].Bound})
	if err != nil || strings.Contains(string(raw), secret) || !strings.Contains(string(raw), "npx fs --token") {
		t.Errorf("%v: kept %s", err, raw)
	}
	b.allow(batch, nil)
	got, err := b.agent.Await(t.Context(), batch.ID, hold("h"))
	if err != nil || got.Calls[0].Consumed == nil || got.Calls[1].Consumed == nil {
		t.Errorf("nothing changed: %v, %s", err, got.Calls[1].Answer())
	}
}

func TestAllowIsForTheServerThatWasShown(t *testing.T) {
	b := newBound(t)
	b.write(".mcp.json", `{"mcpServers": {"fs": {"command": "a"}}}`)
	batch := b.propose(b.proposal(use("mcp__fs__read", map[string]any{})))
	b.allow(batch, nil)
	b.write(".mcp.json", `{"mcpServers": {"fs": {"command": "b"}}}`)
	got, err := b.agent.Await(t.Context(), batch.ID, hold("h"))
	if err != nil || got.Calls[0].State != gatelatch.Revoked {
		t.Errorf("%v, %s", err, got.Calls[0].State)
	}
}

// A server may be defined in the user's own settings, for all projects or one.
func TestServerOfTheUser(t *testing.T) {
	b := newBound(t)
	settings := filepath.Join(os.Getenv("HOME"), ".claude.json")
	sess := &gatelatch.Session{Project: b.dir, Host: b.host}
	seen := map[gatelatch.Sum]bool{}
	for _, text := range []string{
		`{"mcpServers": {"fs": {"command": "a"}}}`,
		`{"mcpServers": {"fs": {"command": "a"}}, "projects": {"` + b.dir + `": {"mcpServers": {"fs": {"command": "b"}}}}}`,
		`{"projects": {"` + b.dir + `": {"mcpServers": {"fs": {"command": "b"}}}}}`,
	} {
		if err := os.WriteFile(settings, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		got := b.gate.Binder.Server("mcp__fs__read", sess)
		if got == nil || seen[got.Sum] {
			t.Fatalf("%s: %+v", text, got)
		}
		seen[got.Sum] = true
	}
	for _, tool := range []string{"mcp__fsx__read", "mcp__f__s__read", "Bash"} {
		if got := b.gate.Binder.Server(tool, sess); got != nil {
			t.Errorf("%s: %+v", tool, got)
		}
	}
}

// One call that names many large files costs what one may cost: the rest is not
// bound, and says so.
func TestBindingHasABound(t *testing.T) {
	b := newBound(t)
	line := ""
	const files, size = 8, 6 << 20
	for i := range files {
		name := fmt.Sprintf("s%d.sh", i)
		b.write(name, "")
		if err := os.Truncate(filepath.Join(b.dir, name), size); err != nil {
			t.Fatal(err)
		}
		line += "bash " + name + " && bash " + name + "; "
	}
	c := b.propose(b.proposal(use("Bash", map[string]any{"command": line}))).Calls[0]
	if c.Bound == nil || c.Bound.Unbound != gatelatch.UnboundFile || len(c.Bound.Files) == 0 || len(c.Bound.Files)*size > 32<<20 {
		t.Errorf("bound to %+v", c.Bound)
	}
}

// An agent that knows all of a call but the content of a file can't try out what
// that is: to guess right leads to another digest.
func TestDigestsTellNothingAboutFiles(t *testing.T) {
	b := newBound(t)
	b.write("pin.sh", "1234")
	ask := func() *gatelatch.Call {
		return b.propose(b.proposal(gatelatch.ProposedCall{Tool: "Bash", Input: []byte(`{"command":"sh ./pin.sh"}`)})).Calls[0]
	}
	guess := func(c *gatelatch.Call) gatelatch.Sum {
		f, sum := c.Bound.Files[0], gatelatch.SumOf([]byte("1234"))
		files, none := gatelatch.SumFields("gatelatch.files.v1", []byte(f.Path), []byte(f.Real), sum[:]), gatelatch.Sum{}
		bound := gatelatch.SumFields("gatelatch.bound.v1", files[:], []byte(c.Bound.Unbound), none[:])
		return gatelatch.SumFields("gatelatch.action.v2", []byte(agentA.ID), []byte("s"), []byte(c.Kind), []byte(c.Tool), c.Input, []byte(c.Dir), bound[:])
	}
	if c := ask(); c.Digest != guess(c) {
		t.Fatal("the guess is not made as digests are")
	}
	b.gate.Salt = []byte("a secret")
	first, second := ask(), ask()
	if first.Digest == guess(first) {
		t.Error("the digest tells what is in the file")
	}
	if first.Digest != second.Digest {
		t.Error("what is the same has two digests")
	}
	b.gate.Salt = []byte("another secret")
	if ask().Digest == first.Digest {
		t.Error("the salt is not in it")
	}
	batch := b.propose(b.proposal(gatelatch.ProposedCall{Tool: "Bash", Input: []byte(`{"command":"sh ./pin.sh"}`)}))
	b.allow(batch, nil)
	b.gate.Salt = []byte("a third, after a restore")
	got, err := b.agent.Await(t.Context(), batch.ID, gatelatch.Hold{Holder: "h", Consume: true})
	if err != nil || got.Calls[0].State != gatelatch.Allowed || got.Calls[0].Consumed == nil {
		t.Errorf("what was allowed does not run: %v, %+v", err, got)
	}
}
