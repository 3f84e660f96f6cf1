package server

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/api"
	"github.com/gatelatch/gatelatch/policy"
	"github.com/gatelatch/gatelatch/policy/history"
	"github.com/gatelatch/gatelatch/policy/review"
	"github.com/gatelatch/gatelatch/render"
)

// PolicyChange is rules as they are and as they shall be.
type PolicyChange struct {
	From          int64 // the revision in force
	Before, After string
	Note          string
}

// A trial is one rule, what it would make of the file, and of what happened.
type trial struct {
	PolicyChange
	effect, match, project string
	offers                 []gatelatch.Offer
	digest                 gatelatch.Sum // of After
	refusal                string        // the last call that a person had refused
	work                   *piece[*history.Result]
}

// tryRule shows what a rule would change. A page must not loosen the rules
// unseen: an allow is made from a call that a person knows, is no wider than
// what an allow of that call may remember, and is tried on all that happened.
func tryRule(s *Server, q *request, in api.TryRule) (api.TriedRule, error) {
	t, err := s.trial(q, in)
	if err != nil {
		return api.TriedRule{}, err
	}
	out := api.TriedRule{
		Effect: t.effect, Match: t.match, Project: render.OneLine(t.project), Offers: []api.Offer{}, From: t.From, Digest: t.digest.String(),
		Diff: render.Change(t.Before, t.After), Work: t.work.state(),
	}
	for _, o := range t.offers {
		if render.OneLine(o.Match) == o.Match {
			out.Offers = append(out.Offers, api.Offer{Match: o.Match, Also: oneLines(o.Also)})
		}
	}
	if !t.work.wait(q.Context()) {
		return out, nil
	}
	if t.work.err != nil {
		return out, t.work.err
	}
	res := t.work.result
	out.Work, out.Safe = api.Work{Ready: true, Done: res.Calls}, res.Safe()
	out.Backtest = &api.Backtest{
		Calls: res.Calls, AsksBefore: res.AsksBefore, AsksAfter: res.AsksAfter, Vanish: res.Vanish, New: res.New,
		Opened: replayed(res.Opened), Closed: replayed(res.Closed), Loosened: replayed(res.Loosened),
	}
	return out, nil
}

func replayed(l history.List) []api.Replayed {
	out := []api.Replayed{}
	for _, r := range l.First {
		out = append(out, api.Replayed{Call: r.Record.Call, Says: subject(r.Record)})
	}
	return out
}

// addRule puts in force what was tried and shown, and nothing else.
func addRule(s *Server, q *request, in api.AddRule) (api.Policy, error) {
	if s.opt.Write == nil {
		return api.Policy{}, invalid(errors.New("this gateway can't change its rules"))
	}
	t, err := s.trial(q, api.TryRule{Effect: in.Effect, Match: in.Match, Call: in.Call})
	switch {
	case err != nil:
		return api.Policy{}, err
	case in.Match == "" || in.Digest != t.digest.String():
		return api.Policy{}, fmt.Errorf("the rules are not those that the change was shown for: %w", gatelatch.ErrChanged)
	case !t.work.isReady():
		return api.Policy{}, fmt.Errorf("the rule is still being tried on what happened: %w", gatelatch.ErrWaiting)
	case t.work.err != nil:
		return api.Policy{}, t.work.err
	case !t.work.result.Safe():
		return api.Policy{}, invalid(errors.New("the rule would allow what a person refused"))
	}
	rev, err := s.opt.Write(q.Context(), q.seat, t.PolicyChange)
	if err != nil {
		return api.Policy{}, err
	}
	return s.viewPolicy(rev), nil
}

// trial returns the trial of a rule on the rules in force, begun if it is new.
func (s *Server) trial(q *request, in api.TryRule) (*trial, error) {
	book, err := s.rulebook()
	if err != nil {
		return nil, err
	}
	now, err := policyInForce(s, q)
	if err != nil {
		return nil, err
	}
	l, err := q.seat.Call(q.Context(), in.Call)
	if err != nil {
		return nil, err
	}
	t := &trial{effect: in.Effect, match: in.Match, PolicyChange: PolicyChange{From: now.Revision, Before: book.Text()}}
	switch in.Effect {
	case "allow":
		err = t.allow(q.seat, l)
	case "deny":
		err = t.deny(q.seat, l)
	default:
		err = fmt.Errorf("a rule of the page allows or denies, not %q", in.Effect)
	}
	if err != nil {
		return nil, invalid(err)
	}
	set, err := t.merge()
	if err != nil {
		return nil, invalid(err)
	}
	if t.refusal, err = s.lastRefusal(q); err != nil {
		return nil, err
	}
	return s.desk.trying(t, func() *piece[*history.Result] {
		seat := q.seat
		return begin(q.base(), &s.desk, func(ctx context.Context, p *piece[*history.Result]) (*history.Result, error) {
			return history.Backtest(ctx, set, records(ctx, seat, func(n int) { p.done.Store(int64(n)) }), nil)
		})
	}), nil
}

// allow checks the matcher as remembering it would, for everywhere or else for
// the project.
func (t *trial) allow(seat *gatelatch.Seat, l gatelatch.Listed) error {
	var first error
	for _, scope := range []gatelatch.Scope{gatelatch.Always, gatelatch.ForProject} {
		match, err := asked(seat, l, t.match, scope)
		if err == nil && render.OneLine(match) != match {
			err = errors.New("the matcher has characters that do not show")
		}
		if err != nil {
			if first == nil {
				first = err
			}
			continue
		}
		t.match, t.offers = match, seat.Offers(l, scope)
		if scope == gatelatch.ForProject {
			t.project = l.Session.Project
		}
		return nil
	}
	return first
}

// asked is the matcher that was asked for, if it may be remembered, or the
// narrowest.
func asked(seat *gatelatch.Seat, l gatelatch.Listed, match string, scope gatelatch.Scope) (string, error) {
	if match == "" {
		return seat.Remember(l, scope)
	}
	return match, seat.Covers(l, match, scope)
}

// deny only tightens: whatever the file takes is good.
func (t *trial) deny(seat *gatelatch.Seat, l gatelatch.Listed) (err error) {
	for _, scope := range []gatelatch.Scope{gatelatch.Always, gatelatch.ForProject, gatelatch.ForSession} {
		if t.match == "" {
			t.match, err = seat.Remember(l, scope)
		}
	}
	switch {
	case len(policy.Parts(t.match)) > 1:
		return errors.New("the line has several commands; say which of them is denied")
	case t.match != "" && render.OneLine(t.match) == t.match:
		return nil
	}
	return errors.Join(errors.New("there is no matcher for this call"), err)
}

func (t *trial) merge() (*policy.Set, error) {
	after := []byte(t.Before)
	for _, match := range policy.Parts(t.match) { // each command of a line has a rule of its own
		var err error
		if after, err = review.Add(after, t.effect, match, t.project); err != nil {
			return nil, err
		}
	}
	if string(after) == t.Before {
		return nil, errors.New("this rule is in force already")
	}
	t.After, t.digest = string(after), gatelatch.SumOf(after)
	t.Note = t.effect + " " + t.match + ", added in the page"
	return policy.Parse("policy.yaml", after)
}

// trying returns the same trial as long as it would come to the same rules.
func (d *desk) trying(t *trial, start func() *piece[*history.Result]) *trial {
	d.mu.Lock()
	defer d.mu.Unlock()
	if old := d.trials[t.digest]; old != nil && old.From == t.From && old.refusal == t.refusal && old.good() {
		t.work = old.work
		return t
	}
	if d.trials == nil || len(d.trials) >= keptTrials {
		d.trials = map[gatelatch.Sum]*trial{}
	}
	t.work = start()
	d.trials[t.digest] = t
	return t
}

// lastRefusal names the newest call that a person refused: a trial that has not
// seen it does not count.
func (s *Server) lastRefusal(q *request) (string, error) {
	calls, _, err := s.past.read(q.Context(), q.base(), q.seat)
	for i := range calls {
		if c := &calls[i]; c.by == gatelatch.PersonActor && c.state != gatelatch.Allowed {
			return c.id, err
		}
	}
	return "", err
}

// trialLife is how long a trial counts: links and files change meanwhile.
const trialLife = 5 * time.Minute

func (t *trial) good() bool {
	return !t.work.isReady() || t.work.err == nil && time.Since(t.work.at) < trialLife
}
