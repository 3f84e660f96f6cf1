package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/audit"
	"github.com/gatelatch/gatelatch/internal/statedir"
)

const (
	checkpointEach  = 1000 // events
	checkpointEvery = time.Minute
	trailAtEnd      = 1000 // events that are checked at start
)

// keeper checks the trail as it grows and writes signed checkpoints of it to a
// second place. It never signs what does not follow from what it signed
// before.
type keeper struct {
	path   string // "" writes none
	store  gatelatch.Store
	log    *slog.Logger
	signer *audit.Signer

	chain   audit.Chain   // as far as the trail was checked
	written gatelatch.Seq // the last checkpoint

	mu      sync.Mutex
	problem string
}

// newKeeper checks the end of the trail, against the checkpoints if there are
// any. A trail that was cut back or rewritten is refused.
func newKeeper(ctx context.Context, opt gatewayOptions, store gatelatch.Store) (*keeper, error) {
	k := &keeper{path: opt.checkpoints, store: store, log: opt.log}
	var points []audit.Checkpoint
	if k.path != "" {
		if err := k.loadKey(opt.state); err != nil {
			return nil, err
		}
		var err error
		points, err = lastCheckpoints(k.path)
		switch {
		case errors.Is(err, errCheckpoint):
			return nil, withHint(fmt.Errorf("%s: %w", k.path, err), "keep the file as evidence, and name a new one with --checkpoints")
		case err != nil && opt.checkpointsRequired:
			return nil, err
		case err != nil:
			_ = k.fail(err) // it is loud
		}
	}
	if err := store.View(ctx, func(r gatelatch.Reader) error { return k.check(r, points) }); err != nil {
		return nil, err
	}
	return k, nil
}

func (k *keeper) loadKey(dir statedir.Dir) error {
	if rel, err := filepath.Rel(string(dir), k.path); err == nil && filepath.IsLocal(rel) {
		return withHint(fmt.Errorf("%s lies in the state directory", k.path),
			"checkpoints belong to a second place, which whoever can change the database can't change")
	}
	secret, err := statedir.ReadKey(dir.CheckpointKey())
	if errors.Is(err, fs.ErrNotExist) {
		secret = audit.NewSecret()
		err = statedir.WriteKey(dir.CheckpointKey(), secret)
	}
	if err != nil {
		return err
	}
	if k.signer, err = audit.ParseSigner(secret); err != nil {
		return fmt.Errorf("%s: %w", dir.CheckpointKey(), err)
	}
	k.log.Info("writing checkpoints of the audit trail", "file", k.path, "key", k.signer.Public().String())
	return nil
}

// check holds the trail against checkpoints, then follows its chain to the
// end, from the last checkpoint or a little before the end.
func (k *keeper) check(r gatelatch.Reader, points []audit.Checkpoint) error {
	last, err := r.LastSeq()
	if err != nil {
		return err
	}
	from := max(0, last-trailAtEnd)
	for _, c := range points {
		if err := contains(r, c, last); err != nil {
			return k.refused(err)
		}
		from, k.written = min(from, c.Seq), c.Seq
	}
	if from > 0 {
		es, err := r.Events(from-1, 1)
		if err != nil {
			return err
		}
		if len(es) != 1 || es[0].Seq != from {
			return k.refused(fmt.Errorf("event %d is missing", from))
		}
		k.chain = audit.After(from, es[0].Link)
	}
	if err := k.follow(r); err != nil {
		return k.refused(err)
	}
	return nil
}

func contains(r gatelatch.Reader, c audit.Checkpoint, last gatelatch.Seq) error {
	if c.Seq > last {
		return fmt.Errorf("it ends at event %d, but %s saw event %d", last, c, c.Seq)
	}
	es, err := r.Events(c.Seq-1, 1)
	if err == nil && (len(es) != 1 || es[0].Seq != c.Seq || es[0].Link != c.Link || audit.Link(es[0]) != c.Link) {
		err = fmt.Errorf("event %d is not the one that %s saw", c.Seq, c)
	}
	return err
}

func (k *keeper) refused(err error) error {
	err = fmt.Errorf("the audit trail was cut back or changed: %w", err)
	if k.path == "" {
		return withHint(err, "restore the database from a backup")
	}
	return withHint(err, "restore the newest database. To go on with an older one on purpose, keep "+k.path+" as evidence and name a new file with --checkpoints")
}

// follow checks the events behind what was checked before.
func (k *keeper) follow(r gatelatch.Reader) error {
	for {
		seq, _ := k.chain.Head()
		es, err := r.Events(seq, checkpointEach)
		if err != nil || len(es) == 0 {
			return err
		}
		for _, e := range es {
			if err := k.chain.Next(e); err != nil {
				return err
			}
		}
	}
}

// run writes checkpoints until ctx ends, or until one can't be written and
// they are required.
func (k *keeper) run(ctx context.Context, required bool) error {
	if k.path == "" {
		return nil
	}
	grown := make(chan struct{}, 1)
	var tried atomic.Int64 // also in vain: that is not repeated with every commit
	tried.Store(int64(k.written))
	k.store.Changes(ctx, func(c gatelatch.Change) {
		if int64(c.Seq) >= tried.Load()+checkpointEach {
			tried.Store(int64(c.Seq))
			select {
			case grown <- struct{}{}:
			default:
			}
		}
	})
	tick := time.NewTicker(checkpointEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		case <-grown:
		}
		if err := k.write(ctx); err != nil && ctx.Err() == nil && required {
			return err
		}
		tried.Store(max(tried.Load(), int64(k.written)))
	}
}

// write checks what is new in the trail and writes a checkpoint of its end. It
// does nothing if nothing is new.
func (k *keeper) write(ctx context.Context) error {
	if k.path == "" {
		return nil
	}
	var at time.Time
	err := k.store.View(ctx, func(r gatelatch.Reader) error {
		at = r.Now()
		return k.follow(r)
	})
	if err != nil {
		err = fmt.Errorf("the trail can't be followed: %w", err)
	}
	seq, link := k.chain.Head()
	if err == nil && seq > k.written {
		if err = appendCheckpoint(k.path, k.signer.Sign(seq, link, at)); err == nil {
			k.written = seq
		}
	}
	if err != nil && ctx.Err() == nil {
		return k.fail(err)
	}
	k.note("")
	return err
}

// end writes the last checkpoint, of everything.
func (k *keeper) end(required bool) error {
	ctx, stop := context.WithTimeout(context.Background(), stopTime)
	defer stop()
	told := k.Problem() != ""
	if err := k.write(ctx); err != nil && required && !told {
		return err
	}
	return nil
}

// fail makes a failure loud: in the log, on the page and in the terminal.
func (k *keeper) fail(err error) error {
	err = fmt.Errorf("no checkpoint of the audit trail could be written: %w", err)
	k.log.Error("checkpoints", "err", err)
	k.note(err.Error())
	return err
}

func (k *keeper) note(problem string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.problem = problem
}

// Problem says what is wrong, for people.
func (k *keeper) Problem() string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.problem
}

// joinProblems is one notice of several.
func joinProblems(problems ...func() string) func() string {
	return func() string {
		var out []string
		for _, p := range problems {
			if s := p(); s != "" {
				out = append(out, s)
			}
		}
		return strings.Join(out, "; ")
	}
}
