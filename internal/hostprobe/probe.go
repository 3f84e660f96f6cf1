// Package hostprobe runs a real agent in a scratch directory and looks at what it
// does with every answer that a gate may give, or fail to give.
//
// What counts is whether the tool ran, which leaves a file behind, and whether
// the agent tried at all, which its model gets to see. A call that was not tried
// was not held back.
package hostprobe

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gatelatch/gatelatch/internal/scriptedmodel"
)

// Options say what is probed.
type Options struct {
	Claude    string    // the agent
	Gatelatch string    // runs the scratch gateways
	Channels  []Channel // the ways in which the agent asks
	Dir       string    // everything is made below it; a short path, for sockets
	Only      []string  // the cases to run; all if empty
	// Managed is the folder of managed settings, if there are any: their hooks
	// would ask the real gateway, so the stage's own folder covers it.
	Managed string
}

// A Channel is a way in which the agent asks.
type Channel struct {
	Name string
	// Cases are those of the channel itself, beside those of every gateway.
	Cases []Case
	// Patient is a channel without a limit: its host waits for as long as it takes.
	Patient bool
	// Refuses is one that starts no agent where there is no gateway.
	Refuses bool
	// Asks is one that is asked only about what the agent itself would not run.
	Asks bool
	// Command starts the agent so that it asks the gateway of the stage.
	Command func(s *Stage, prompt string) ([]string, error)
}

// A Case is one thing that may happen to a call.
type Case struct {
	Name  string
	Why   string // in words
	Calls []Call
	// Limit is the host's, in seconds.
	Limit int
	// Open is set where nothing but the gate lets the call run.
	Open bool
	// Waits is set where nobody decides, and Gone where there is no gateway.
	Waits, Gone bool
	// Before and While see to it that it happens; both may be nil.
	Before, While func(context.Context, *Stage) error
}

// Call is a file that the agent is told to make, and whether it may.
type Call struct {
	File   string
	Runs   bool
	Edited bool // the agent is not told: a person puts it in the place of another
}

// asked are the calls that the agent is told to make.
func (c Case) asked() (out []Call) {
	for _, call := range c.Calls {
		if !call.Edited {
			out = append(out, call)
		}
	}
	return out
}

// Result is what really happened.
type Result struct {
	Channel string `json:"channel"`
	Case    string `json:"case"`
	Why     string `json:"why"`
	Want    string `json:"want"`
	Got     string `json:"got"`
	Told    string `json:"told,omitempty"` // to the model
	OK      bool   `json:"ok"`
	Unknown bool   `json:"unknown,omitempty"` // nothing was seen, good or bad
}

// most is how long one run of the agent may take.
const most = 2 * time.Minute

// atOnce is how many agents run beside each other; the slow ones only wait.
const atOnce = 3

// Run probes everything. The control comes first: an agent that does nothing
// without the gate either tells nothing about it.
func Run(ctx context.Context, opt Options) ([]Result, error) {
	var todo []func() Result
	var names []string
	for _, ch := range opt.Channels {
		for _, c := range append(gatewayCases(), ch.Cases...) {
			if names = append(names, c.Name); len(opt.Only) == 0 || slices.Contains(opt.Only, c.Name) {
				todo = append(todo, func() Result { return opt.run(ctx, ch, c) })
			}
		}
	}
	for _, name := range opt.Only {
		if !slices.Contains(names, name) {
			return nil, fmt.Errorf("there is no case %q, only %s", name, strings.Join(names, ", "))
		}
	}
	free := opt.run(ctx, Channel{Name: "no gate", Command: ungated}, control)
	if !free.OK {
		return []Result{free}, nil
	}
	return append([]Result{free}, inTurn(todo)...), nil
}

func inTurn(todo []func() Result) []Result {
	out := make([]Result, len(todo))
	var all sync.WaitGroup
	places := make(chan struct{}, atOnce)
	for i, do := range todo {
		places <- struct{}{}
		all.Go(func() {
			defer func() { <-places }()
			out[i] = do()
		})
	}
	all.Wait()
	return out
}

func (opt Options) run(ctx context.Context, ch Channel, c Case) Result {
	r := Result{Channel: ch.Name, Case: c.Name, Why: c.Why, Want: wanted(c.Calls)}
	s, err := newStage(opt, ch, c)
	if err == nil {
		defer s.close()
		err = s.play(ctx)
	}
	if err != nil {
		r.Got, r.Unknown = "nothing is known: "+err.Error(), true
		return r
	}
	r.Told = s.told()
	if ch.Refuses && c.Gone && s.failed && s.model.Replies() == 0 {
		r.Got, r.OK = "the agent was not started", true
		return r
	}
	n, all := len(s.model.Results()), len(c.asked())
	if ch.Patient && c.Waits {
		n = s.waited
	}
	if n < all {
		r.Got, r.Unknown = fmt.Sprintf("nothing is known: the agent tried %d of %d calls", n, all), true
		return r
	}
	r.Got, r.OK = s.judge()
	return r
}

// play brings the case about and waits for the agent's end.
func (s *Stage) play(ctx context.Context) error {
	ctx, stop := context.WithTimeout(ctx, most)
	defer stop()
	if s.c.Before != nil {
		if err := s.c.Before(ctx, s); err != nil {
			return err
		}
	}
	end, err := s.start(ctx)
	if err != nil {
		return err
	}
	switch {
	case s.c.While != nil:
		err = s.c.While(ctx, s)
	case s.ch.Asks && !s.c.Waits && !s.c.Gone:
		err = s.allowAll(ctx, end)
	}
	var enough <-chan time.Time
	if s.ch.Patient && s.c.Waits && err == nil {
		// It would wait for ever, and has begun to.
		if s.waited == 0 {
			_, _, err = s.waiting(ctx)
		}
		enough = time.After(soon * time.Second)
	}
	// How the agent ended is not the question, but what it did.
	select {
	case <-end:
	case <-enough:
	case <-ctx.Done():
		err = errors.Join(err, fmt.Errorf("the agent did not end within %s", most))
	}
	return err
}

// judge compares what ran with what may run.
func (s *Stage) judge() (got string, ok bool) {
	var wrong []string
	for _, c := range s.c.Calls {
		_, err := os.Stat(filepath.Join(s.Project, c.File))
		switch ran := err == nil; {
		case ran && !c.Runs:
			wrong = append(wrong, c.File+" ran unasked")
		case !ran && c.Runs:
			wrong = append(wrong, c.File+" was held back")
		}
	}
	if len(wrong) > 0 {
		return strings.Join(wrong, ", "), false
	}
	return wanted(s.c.Calls), true
}

func wanted(calls []Call) string {
	runs := 0
	for _, c := range calls {
		if c.Runs {
			runs++
		}
	}
	switch {
	case len(calls) > 1:
		return fmt.Sprintf("%d ran, %d held back", runs, len(calls)-runs)
	case runs == 1:
		return "ran"
	}
	return "held back"
}

func (s *Stage) told() string {
	results := s.model.Results()
	if len(results) == 0 {
		return ""
	}
	const clip = 300
	return fmt.Sprintf("%.*s", clip, results[len(results)-1].Text)
}

// script makes the agent try all calls in one message.
func script(calls []Call) string {
	var blocks []scriptedmodel.Block
	for _, c := range calls {
		blocks = append(blocks, scriptedmodel.Bash("touch "+c.File).Content...)
	}
	return scriptedmodel.Prompt(scriptedmodel.Turn{Content: blocks}, scriptedmodel.Say("done"))
}
