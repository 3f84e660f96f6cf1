package history

import (
	"context"
	"runtime"
	"sync"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/policy"
)

// maxListed is how many calls of one kind a result names.
const maxListed = 20

// A Result says what other rules would have made of a history.
type Result struct {
	Calls      int `json:"calls"`
	AsksBefore int `json:"asks_before"`
	AsksAfter  int `json:"asks_after"`
	Vanish     int `json:"asks_that_vanish"` // asked then, allowed or denied now
	New        int `json:"new_asks"`         // not asked then, asked now
	// Opened are calls that a person refused and the rules would allow. No rules
	// with any of these may be applied.
	Opened List `json:"refused_but_allowed"`
	// Closed are calls that a person allowed and the rules would deny.
	Closed List `json:"allowed_but_denied"`
	// Loosened are calls that rules denied and the new ones would allow.
	Loosened List `json:"denied_but_allowed"`
}

// Safe reports whether nothing is allowed that a person refused.
func (res *Result) Safe() bool { return res.Opened.Count == 0 }

// A List counts calls and names the first of them.
type List struct {
	Count int        `json:"count"`
	First []Replayed `json:"first"`
}

// Replayed is a recorded call with what is said about it now.
type Replayed struct {
	Record  Record            `json:"record"`
	Verdict gatelatch.Verdict `json:"verdict"`
}

func (l *List) add(r *Record, v gatelatch.Verdict) {
	l.Count++
	if len(l.First) < maxListed {
		l.First = append(l.First, Replayed{*r, v})
	}
}

// Backtest judges every record by the rules of set. done, if set, is told now and then
// how many are judged.
func Backtest(ctx context.Context, set *policy.Set, src Source, done func(n int)) (*Result, error) {
	res := &Result{Opened: List{First: []Replayed{}}, Closed: List{First: []Replayed{}}, Loosened: List{First: []Replayed{}}}
	err := replay(ctx, set.Unhurried(), src, func(r *Record, v gatelatch.Verdict) {
		res.count(r, v)
		if done != nil && res.Calls%1000 == 0 {
			done(res.Calls)
		}
	})
	return res, err
}

func (res *Result) count(r *Record, v gatelatch.Verdict) {
	res.Calls++
	asks := v.Effect == gatelatch.Ask
	if r.Asked() {
		res.AsksBefore++
	}
	if asks {
		res.AsksAfter++
	}
	switch {
	case r.Asked() && !asks:
		res.Vanish++
	case !r.Asked() && asks:
		res.New++
	}
	switch {
	case r.Refused() && v.Effect == gatelatch.Allow:
		res.Opened.add(r, v)
	case r.Agreed() && v.Effect == gatelatch.Deny:
		res.Closed.add(r, v)
	case r.Effect == gatelatch.Deny && v.Effect == gatelatch.Allow:
		res.Loosened.add(r, v)
	}
}

// A worker takes several records at once, for handing over one by one costs as
// much as judging; but not so many bytes that large inputs fill the memory.
const (
	chunk      = 256
	chunkBytes = 1 << 20
)

type part struct {
	records  []Record
	bytes    int
	verdicts []gatelatch.Verdict
	ready    chan struct{}
}

// replay judges by all cores and calls fn in the order of the records. It holds
// a few chunks at a time.
func replay(ctx context.Context, set *policy.Set, src Source, fn func(*Record, gatelatch.Verdict)) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	workers := runtime.GOMAXPROCS(0)
	todo, order := make(chan *part, workers), make(chan *part, 2*workers)
	var wg sync.WaitGroup
	defer wg.Wait()
	defer stop()
	for range workers {
		wg.Go(func() {
			for p := range todo {
				for i := range p.records {
					p.verdicts[i] = judge(set, &p.records[i])
				}
				close(p.ready)
			}
		})
	}
	failed := make(chan error, 1)
	wg.Go(func() { failed <- read(ctx, src, todo, order) })
	for p := range order {
		<-p.ready
		for i := range p.records {
			fn(&p.records[i], p.verdicts[i])
		}
	}
	return <-failed
}

// read cuts the records into chunks, for the workers and in their order.
func read(ctx context.Context, src Source, todo, order chan<- *part) error {
	defer close(order)
	defer close(todo)
	var p *part
	send := func() bool {
		if p == nil {
			return true
		}
		p.verdicts, p.ready = make([]gatelatch.Verdict, len(p.records)), make(chan struct{})
		for _, c := range []chan<- *part{todo, order} {
			select {
			case c <- p:
			case <-ctx.Done():
				return false
			}
		}
		p = nil
		return true
	}
	for r, err := range src {
		if err != nil {
			return err
		}
		if p == nil {
			p = &part{records: make([]Record, 0, chunk)}
		}
		p.records, p.bytes = append(p.records, r), p.bytes+len(r.Input)
		if (len(p.records) == chunk || p.bytes > chunkBytes) && !send() {
			return ctx.Err()
		}
	}
	send()
	return ctx.Err()
}

// judge gives the verdict of today. What was allowed by something remembered is
// judged with that still there. Of what was refused, the reading that allows
// counts: links may have changed since.
func judge(set *policy.Set, r *Record) gatelatch.Verdict {
	c, s := r.call()
	var grants []*gatelatch.Grant
	if r.Grant != "" {
		grants = []*gatelatch.Grant{{ID: "history", Match: r.Grant, Scope: gatelatch.ForSession}}
	}
	v := set.JudgeFacts(set.Read(c, s), grants)
	if r.Refused() && v.Effect < gatelatch.Allow {
		if written := set.JudgeFacts(set.ReadAsWritten(c, s), grants); written.Effect > v.Effect {
			return written
		}
	}
	return v
}
