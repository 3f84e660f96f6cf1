//go:build linux

package crash

import (
	"context"
	"fmt"
	"strings"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/api"
)

// A step is one request whose answer, once given, binds the gateway.
type step struct {
	name string
	do   func(context.Context, *desk) error
	// After the answer, asking again is harmless, or something new (once), or
	// refused (spent).
	once, spent bool
}

// run asks, and waits no longer than patience.
func (s step) run(ctx context.Context, d *desk) error {
	ctx, stop := context.WithTimeout(ctx, patience)
	defer stop()
	if err := s.do(ctx, d); err != nil {
		return fmt.Errorf("%s: %w", s.name, err)
	}
	return nil
}

// canonical is the workload that is killed at each of its writes.
func canonical() []step { return append(session(), pausing()...) }

// session is each way in which a call can end, alone and in batches.
func session() []step { return append(single(), batches()...) }

// single is how a hook asks: its host runs a call as soon as it hears.
func single() []step {
	return []step{
		propose("allowed", atOnce, "pwd"),
		ran("allowed 1", true),

		propose("asked", atOnce, "git push"),
		decide("asked 1", gatelatch.Allowed),
		await("asked", atOnce),
	}
}

// batches is how an agent asks that runs its calls by itself, one by one.
func batches() []step {
	return []step{
		propose("mixed", byOne, "git push", "git pull"),
		edit("mixed 1", "git push --dry-run"),
		decide("mixed 1", gatelatch.Allowed),
		withdraw("mixed"),
		await("mixed", byOne),
		consume("mixed 1"),
		extend("mixed", "rm -rf x"),
		await("mixed", byOne),
		report("mixed 1", true),
		finish("mixed"),
	}
}

// pausing are steps that concern everybody at the gateway, and what waits to
// the end.
func pausing() []step {
	return []step{
		propose("stopped", later, "git push"),
		{name: "pause", once: true, do: func(ctx context.Context, d *desk) error {
			_, err := d.person.Pause(ctx, "")
			return d.told("stopped 1", gatelatch.Denied, err)
		}},
		{name: "unpause", once: true, do: func(ctx context.Context, d *desk) error {
			_, err := d.person.Unpause(ctx)
			return err
		}},
		propose("waiting", later, "git push"),
	}
}

// A mode is how an agent wants to hold a batch.
type mode int

const (
	later  mode = iota // it does not say yet
	atOnce             // and runs everything as soon as it holds it
	byOne              // and consumes each call
)

func (d *desk) hold(message string, how mode) (h gatelatch.Hold) {
	if how != later {
		h = gatelatch.Hold{Holder: d.session + " " + message, Consume: how == atOnce}
	}
	return h
}

// calls are the given commands, as the calls "MESSAGE 1", "MESSAGE 2" and so on.
func calls(message string, from int, commands []string) (out []gatelatch.ProposedCall) {
	for i, cmd := range commands {
		out = append(out, gatelatch.ProposedCall{
			Ref: fmt.Sprint(message, " ", from+i), Kind: gatelatch.Permission, Tool: "Bash", Input: command(cmd),
		})
	}
	return out
}

func command(cmd string) []byte { return fmt.Appendf(nil, `{"command":%q}`, cmd) }

func propose(message string, how mode, commands ...string) step {
	return step{name: "propose " + message, do: func(ctx context.Context, d *desk) error {
		b, err := d.agent.Propose(ctx, gatelatch.Proposal{
			Session: gatelatch.SessionInfo{ID: d.session}, Message: message, Hold: d.hold(message, how), Calls: calls(message, 1, commands),
		})
		return d.hear(message, b, err)
	}}
}

func extend(message string, commands ...string) step {
	return step{name: "extend " + message, spent: true, do: func(ctx context.Context, d *desk) error {
		told := d.batches[message]
		b, err := d.agent.Extend(ctx, told.id, told.fence, calls(message, len(told.refs)+1, commands))
		return d.hear(message, b, err)
	}}
}

func await(message string, how mode) step {
	return step{name: "await " + message, do: func(ctx context.Context, d *desk) error {
		b, err := d.agent.Await(ctx, d.batches[message].id, d.hold(message, how))
		if err == nil && b.Opened == nil {
			return fmt.Errorf("batch %s came unopened", message)
		}
		return d.hear(message, b, err)
	}}
}

func decide(ref string, state gatelatch.State) step {
	return step{name: "decide " + ref, do: func(ctx context.Context, d *desk) error {
		c := d.calls[ref]
		_, err := d.person.Decide(ctx, c.id, api.Decision{State: string(state), Digest: c.digest.String()})
		return d.told(ref, state, err)
	}}
}

// edit replaces a waiting call's input. Who got no answer looks at the call
// before he edits what is there now.
func edit(ref, cmd string) step {
	return step{name: "edit " + ref, spent: true, do: func(ctx context.Context, d *desk) error {
		c := d.calls[ref]
		c.editing = true
		now, err := d.person.Call(ctx, c.id)
		if err == nil && string(now.Input) != string(command(cmd)) {
			now, err = d.person.Edit(ctx, c.id, api.Edit{Digest: c.digest.String(), Input: command(cmd)})
		} else if err == nil && gatelatch.State(now.State).Settled() {
			err = gatelatch.ErrSettled
		}
		if err == nil {
			err, c.editing = c.digest.UnmarshalText([]byte(now.Digest)), false
		}
		return err
	}}
}

func consume(ref string) step {
	return step{name: "consume " + ref, spent: true, do: func(ctx context.Context, d *desk) error {
		c, b := d.calls[ref], d.batches[message(ref)]
		got, err := d.agent.Consume(ctx, gatelatch.Take{Batch: b.id, Call: c.id, Fence: b.fence, Digest: c.digest, Nonce: "once"})
		if err == nil && got.Digest != c.digest {
			err = fmt.Errorf("call %s is to run with another digest", ref)
		}
		c.consumed = c.consumed || err == nil
		return err
	}}
}

func report(ref string, ok bool) step {
	return step{name: "report " + ref, do: func(ctx context.Context, d *desk) error {
		c, b := d.calls[ref], d.batches[message(ref)]
		return d.reported(ref, d.agent.Report(ctx, gatelatch.Report{Batch: b.id, Call: c.id, Fence: b.fence, OK: ok, Result: []byte("result of " + ref)}))
	}}
}

// ran is the report of a host that runs calls by itself.
func ran(ref string, ok bool) step {
	return step{name: "report " + ref, do: func(ctx context.Context, d *desk) error {
		return d.reported(ref, d.agent.Report(ctx, gatelatch.Report{Session: d.session, Ref: ref, OK: ok}))
	}}
}

func finish(message string) step {
	return step{name: "finish " + message, do: func(ctx context.Context, d *desk) error {
		b := d.batches[message]
		results, err := d.agent.Finish(ctx, gatelatch.Finish{Batch: b.id, Fence: b.fence})
		for i, r := range results {
			if c := d.calls[b.refs[i]]; c.reported && string(r.Output) != "result of "+r.Ref {
				return fmt.Errorf("the result of call %s is %q", r.Ref, r.Output)
			}
		}
		b.finished = b.finished || err == nil
		return err
	}}
}

func withdraw(message string) step {
	return step{name: "withdraw " + message, do: func(ctx context.Context, d *desk) error {
		err := d.agent.Withdraw(ctx, d.batches[message].id, "enough")
		for _, ref := range d.batches[message].refs {
			if err == nil && d.calls[ref].state == gatelatch.Pending {
				err = d.told(ref, gatelatch.Withdrawn, nil)
			}
		}
		return err
	}}
}

func message(ref string) string { m, _, _ := strings.Cut(ref, " "); return m }
