package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/internal/hostconfig"
	"github.com/gatelatch/gatelatch/policy"
	"github.com/gatelatch/gatelatch/server"
)

// rules is the policy of a gateway. With a database of its own it lies in a
// file, and what the file says is noted in the store; gateways that share a
// database share the rules in it.
type rules struct {
	*policy.File
	shared *policy.Shared // nil if the rules lie in the file
	file   string

	mu    sync.Mutex
	noted string // hash of what was noted last
}

func openRules(opt gatewayOptions) *rules {
	r := &rules{file: filepath.Join(opt.config, "policy.yaml")}
	if opt.store == "" {
		r.File = policy.OpenPaths(policy.Paths{Machine: policy.MachineFile, User: r.file})
	} else {
		r.shared = policy.OpenShared(policy.MachineFile)
		r.File = r.shared.File
	}
	r.Protect(string(opt.state), opt.config, opt.checkpoints)
	return r
}

// judge is what the gate judges by.
func (r *rules) judge() gatelatch.Policy {
	if r.shared != nil {
		return r.shared
	}
	return r.File
}

// path is the file that holds the rules, "" if they lie in the store.
func (r *rules) path() string {
	if r.shared != nil {
		return ""
	}
	return r.file
}

// begin takes the rules from the store. The first gateway puts its file there,
// or the default rules.
func (r *rules) begin(ctx context.Context, gate *gatelatch.Gate) error {
	if r.shared == nil {
		return r.follow(ctx, gate)
	}
	if err := gate.CatchUp(ctx); err != nil || r.shared.Revision() > 0 {
		return err
	}
	text, err := os.ReadFile(r.file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		text = []byte(r.Text())
	case err != nil:
		return err
	}
	if err := r.shared.Check(string(text)); err != nil {
		return err
	}
	if err := gate.Adopt(ctx, string(text)); err != nil && !errors.Is(err, gatelatch.ErrConflict) {
		return err
	}
	return gate.CatchUp(ctx)
}

// follow notes what the file says now, or takes what the store says.
func (r *rules) follow(ctx context.Context, gate *gatelatch.Gate) error {
	if r.shared != nil {
		return gate.CatchUp(ctx)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	hash := r.Hash()
	if hash == r.noted || r.Problem() != "" {
		return nil
	}
	if err := gate.Adopt(ctx, r.Text()); err != nil {
		return err
	}
	r.noted = hash
	return nil
}

// write puts changed rules in force, in the store or in the file. The trail
// says who did it.
func (r *rules) write(ctx context.Context, seat *gatelatch.Seat, c server.PolicyChange) (*gatelatch.Revision, error) {
	if r.shared != nil {
		return seat.ApplyPolicy(ctx, c.From, c.After, c.Note)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	f, err := readSettings(r.file)
	switch {
	case err != nil:
		return nil, err
	case f.data != nil && string(f.data) != c.Before, f.data == nil && r.Text() != c.Before:
		return nil, fmt.Errorf("policy.yaml was changed meanwhile: %w", gatelatch.ErrChanged)
	}
	if err := f.write(hostconfig.Change{Settings: []byte(c.After)}); err != nil {
		return nil, err
	}
	if err := r.Reload(); err != nil {
		return nil, err
	}
	rev, err := seat.NotePolicy(ctx, c.From, c.After, c.Note)
	if err == nil {
		r.noted = r.Hash()
	}
	return rev, err
}
