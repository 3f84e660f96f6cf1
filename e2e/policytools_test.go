package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/api"
	"github.com/gatelatch/gatelatch/client"
	"github.com/gatelatch/gatelatch/policy/history"
)

// A recorded history has batches of ten: five that a rule allows, one that a
// rule denies, and four that a person is asked about.
const (
	historyBatches = 210
	askedInBatch   = 4
)

// proposed returns the calls of one batch, each with what a person answers.
func proposed(n int) (calls []gatelatch.ProposedCall, answers []gatelatch.State) {
	bash := func(command string, answer gatelatch.State) {
		input, _ := json.Marshal(map[string]string{"command": command})
		calls = append(calls, gatelatch.ProposedCall{Ref: fmt.Sprintf("r%d-%d", n, len(calls)), Kind: gatelatch.Permission, Tool: "Bash", Input: input, Dir: "/srv/app"})
		answers = append(answers, answer)
	}
	for i := range 5 {
		bash(fmt.Sprintf("ls -l d%d", i), "")
	}
	bash(fmt.Sprintf("curl https://example.com/%d", n), "")
	bash("cargo check", gatelatch.Allowed)
	bash(fmt.Sprintf("git commit -m 'change %d'", n), gatelatch.Allowed)
	bash(fmt.Sprintf("cargo run -- %d", n), gatelatch.Allowed) // nothing that can be suggested
	if n%3 == 0 {
		bash("git push origin main", gatelatch.Denied)
	} else {
		bash("git push origin main", gatelatch.Allowed)
	}
	return calls, answers
}

// makeHistory sends all of it through the gateway, as agents and a person would.
func (g *gateway) makeHistory() {
	g.t.Helper()
	agent, err := client.ForAgents(g.state)
	if err != nil {
		g.t.Fatal(err)
	}
	person, err := client.ForPeople(g.state)
	if err != nil {
		g.t.Fatal(err)
	}
	const workers = 8
	errs := make([]error, workers)
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for n := w; n < historyBatches && errs[w] == nil; n += workers {
				errs[w] = oneBatch(g.t.Context(), agent, person, n)
			}
		})
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		g.t.Fatal(err)
	}
}

func oneBatch(ctx context.Context, agent, person *client.Client, n int) error {
	calls, answers := proposed(n)
	b, err := agent.Propose(ctx, gatelatch.Proposal{
		Session: gatelatch.SessionInfo{ID: fmt.Sprintf("s%d", n%7), Name: "Agent", Project: "/srv/app"}, Message: fmt.Sprintf("m%d", n), Calls: calls,
	})
	if err != nil {
		return err
	}
	for i, c := range b.Calls {
		switch pending := c.State == gatelatch.Pending; {
		case pending != (answers[i] != ""):
			return fmt.Errorf("%s is %s", calls[i].Input, c.State)
		case pending:
			d := api.Decision{State: string(answers[i]), Digest: c.Digest.String()}
			if _, err := person.Decide(ctx, c.ID, d); err != nil {
				return err
			}
		}
	}
	if _, err = agent.Await(ctx, b.ID, gatelatch.Hold{Holder: fmt.Sprintf("h%d", n), Consume: true}); err != nil {
		return err
	}
	return nil
}

// What is suggested from a history of 2,100 calls saves what it says, and
// allows nothing that a person refused.
func TestPolicyToolsOnARealHistory(t *testing.T) {
	t.Parallel()
	g := startGateway(t, "version: 1\nallow:\n  - Bash(ls:*)\ndeny:\n  - Bash(curl:*)\n")
	g.makeHistory()

	var got history.Suggestions
	g.cliJSON(&got, "policy", "suggest", "--json", "--config", g.config)
	want := map[string]int{"Bash(cargo check)": historyBatches, "Bash(git commit -m:*)": historyBatches}
	if got.Asks != askedInBatch*historyBatches || len(got.Rules) != len(want) {
		t.Errorf("of %d asks: %+v", got.Asks, got.Rules)
	}
	for _, r := range got.Rules {
		if want[r.Rule] != r.Saves || r.Also == "" || len(r.Examples) == 0 {
			t.Errorf("%+v", r)
		}
	}

	// The same from an export, and what it is worth.
	export := filepath.Join(tempDir(t), "history.jsonl")
	if err := os.WriteFile(export, []byte(g.cli("policy", "history")), 0o600); err != nil {
		t.Fatal(err)
	}
	g.cli("policy", "suggest", "--write", "--yes", "--config", g.config, "--from", export)
	var res history.Result
	g.cliJSON(&res, "policy", "backtest", filepath.Join(g.config, "policy.yaml"), "--json", "--from", export)
	if res.Calls != 10*historyBatches || res.AsksBefore != 4*historyBatches || res.AsksAfter != 2*historyBatches ||
		res.Vanish != 2*historyBatches || res.New != 0 || res.Opened.Count != 0 || res.Closed.Count != 0 || res.Loosened.Count != 0 {
		t.Errorf("%+v", res)
	}

	// Rules that would let a refused push through can't pass.
	wide := filepath.Join(tempDir(t), "wide.yaml")
	if err := os.WriteFile(wide, []byte("version: 1\nallow:\n  - Bash(git:*)\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	out, code := g.try("policy", "backtest", wide)
	if code != 1 || !strings.Contains(out, fmt.Sprintf("the rules would allow %d calls that a person refused", historyBatches/3)) {
		t.Errorf("exit code %d\n%s", code, out)
	}

	// The rules that were written are in force, and the gateway knows no more.
	b := func(n int) gatelatch.State {
		agent, err := client.ForAgents(g.state)
		if err != nil {
			t.Fatal(err)
		}
		calls, _ := proposed(n)
		batch, err := agent.Propose(t.Context(), gatelatch.Proposal{
			Session: gatelatch.SessionInfo{ID: "after", Name: "Agent", Project: "/srv/app"}, Message: fmt.Sprint("after ", n), Calls: calls[n : n+1],
		})
		if err != nil {
			t.Fatal(err)
		}
		return batch.Calls[0].State
	}
	if check, commit, push := b(6), b(7), b(9); check != gatelatch.Allowed || commit != gatelatch.Allowed || push != gatelatch.Pending {
		t.Errorf("cargo check is %s, git commit %s, git push %s", check, commit, push)
	}
}

func (g *gateway) cliJSON(to any, args ...string) {
	g.t.Helper()
	if out := g.cli(args...); json.Unmarshal([]byte(out), to) != nil {
		g.t.Fatalf("gatelatch %s: %s", strings.Join(args, " "), out)
	}
}

// try is cli for what may fail: its output, and how it ended.
func (g *gateway) try(args ...string) (string, int) {
	g.t.Helper()
	cmd := exec.CommandContext(g.t.Context(), need(g.t, product).gatelatch, append(args, "--state", g.state)...)
	cmd.Env, cmd.Dir = cleanEnv(g.home), g.home
	out, err := cmd.CombinedOutput()
	if err != nil && cmd.ProcessState == nil {
		g.t.Fatal(err)
	}
	return string(out), cmd.ProcessState.ExitCode()
}
