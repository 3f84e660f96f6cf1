package main

import (
	"context"
	"fmt"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/policy"
)

// node is a gateway without its network: what an agent and a person see of it.
type node struct {
	agent, person *gatelatch.Seat
	project       string
}

// newNode runs until ctx ends.
func newNode(ctx context.Context, store gatelatch.Store, project string) node {
	gate := gatelatch.New(store, policy.Default())
	go gate.Run(ctx)
	return node{
		agent:   gate.As(gatelatch.Actor{Kind: gatelatch.AgentActor, ID: "key_agent"}),
		person:  gate.As(gatelatch.Actor{Kind: gatelatch.PersonActor, ID: "key_person"}),
		project: project,
	}
}

// proposal is a call that a person has to decide, another for each i.
func proposal(project string, i int) gatelatch.Proposal {
	return gatelatch.Proposal{
		Session: gatelatch.SessionInfo{ID: "s", Name: "bench", Project: project},
		Message: fmt.Sprintf("message-%08d", i),
		Calls: []gatelatch.ProposedCall{{
			Ref: fmt.Sprintf("call-%08d", i), Kind: gatelatch.Permission, Tool: "Bash", Dir: project,
			Input: fmt.Appendf(nil, `{"command":"git push origin branch-%08d"}`, i),
		}},
	}
}

func (d node) propose(ctx context.Context, i int) (*gatelatch.Call, string, error) {
	b, err := d.agent.Propose(ctx, proposal(d.project, i))
	if err != nil {
		return nil, "", err
	}
	if b.Ready() {
		return nil, "", fmt.Errorf("call %s did not wait for a person", b.Calls[0].ID)
	}
	return b.Calls[0], b.ID, nil
}

func (d node) decide(ctx context.Context, c *gatelatch.Call) error {
	_, err := d.person.Decide(ctx, c.ID, gatelatch.Decision{State: gatelatch.Allowed, Digest: c.Digest})
	return err
}

// await waits until the batch is this holder's.
func (d node) await(ctx context.Context, batchID string) error {
	_, err := d.agent.Await(ctx, batchID, gatelatch.Hold{Holder: "holder-of-" + batchID})
	return err
}
