package linear

import (
	"fmt"
	"math"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
)

const lease = time.Second // the shortest there is

// tries is how often a client asks for the same when answers are lost. More
// would make histories that can't be checked.
const tries = 4

// history is what all clients asked for and were told.
type history struct {
	begin time.Time

	mu  sync.Mutex
	ops []done
}

// done is an operation with its answer, in the histories of some batches.
type done struct {
	op
	answer
	in         []string // messages of batches
	node       int
	start, end time.Duration // since the history began
	first      time.Duration // when it was asked for the first time, if the answer was lost then
}

func (h *history) now() time.Duration { return time.Since(h.begin) }

func (h *history) add(d done) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ops = append(h.ops, d)
}

// operations returns the history for the checker. What was lost may take effect
// as long as there is anything to see, or never.
func operations(ops []done) (out []porcupine.Operation) {
	type attempt struct {
		in string
		op op
	}
	at := map[attempt]int{}
	ends := map[string]int64{}
	for _, d := range ops {
		for _, name := range d.in {
			o := porcupine.Operation{ClientId: d.node, Input: d.op, Output: d.answer, Call: int64(d.start), Return: int64(d.end), Metadata: name}
			if d.code != lost {
				ends[name] = max(ends[name], o.Return)
				out = append(out, o)
				continue
			}
			o.Return = math.MaxInt64
			// Done twice is done once, of everything but opening.
			if i, again := at[attempt{name, d.op}]; again && d.kind != open {
				out[i].Call = min(out[i].Call, o.Call)
				continue
			}
			at[attempt{name, d.op}] = len(out)
			out = append(out, o)
		}
	}
	for name, last := range ends {
		out = append(out, porcupine.Operation{Input: op{kind: end}, Output: answer{}, Call: last + 1, Return: math.MaxInt64, Metadata: name})
	}
	return out
}

// checkAll holds a history against the model, and what the model leaves to the
// clock against real time.
func checkAll(t *testing.T, ops []done, limit time.Duration) {
	t.Helper()
	begin := time.Now()
	all := operations(ops)
	if verdict := porcupine.CheckOperationsTimeout(model, all, limit); verdict != porcupine.Ok {
		t.Errorf("the history of %d operations is %s", len(ops), verdict)
		explain(t, all)
	}
	for _, problem := range latchProblems(ops) {
		t.Error(problem)
	}
	t.Logf("checked in %v", time.Since(begin).Round(time.Millisecond))
}

// explain logs the smallest batch whose history is impossible.
func explain(t *testing.T, all []porcupine.Operation) {
	t.Helper()
	var bad []porcupine.Operation
	for _, part := range model.Partition(all) {
		if (bad == nil || len(part) < len(bad)) && porcupine.CheckOperationsTimeout(model, part, 5*time.Second) != porcupine.Ok {
			bad = part
		}
	}
	slices.SortFunc(bad, func(a, b porcupine.Operation) int { return int(a.Call - b.Call) })
	for _, o := range bad {
		t.Logf("%v node %d %v–%v: %s", o.Metadata, o.ClientId, time.Duration(o.Call), time.Duration(o.Return), model.DescribeOperation(o.Input, o.Output))
	}
}

// latchProblems says where a batch had two holders at once, by what they were
// told and when: it knows nothing of the model.
func latchProblems(ops []done) (problems []string) {
	batches := map[string][]done{}
	for _, d := range ops {
		if d.code == "" && (d.kind == open || d.kind == consume) {
			batches[d.in[0]] = append(batches[d.in[0]], d)
		}
	}
	for name, ds := range batches {
		for _, a := range ds {
			for _, b := range ds {
				if why := clash(a, b); why != "" {
					problems = append(problems, fmt.Sprintf("%s: %s:\n%s\n%s", name, why, a.String(), b.String()))
				}
			}
		}
	}
	return problems
}

func (d *done) String() string {
	return fmt.Sprintf("node %d %v–%v, asked since %v: %s", d.node, d.start, d.end, d.first, describe(d.op, d.answer))
}

func (d *done) held() int64 {
	if d.kind == open {
		return d.answer.fence
	}
	return d.op.fence
}

// clash says why a and b can't both be true of one batch.
func clash(a, b done) string {
	switch {
	case a.kind == open && b.kind == open && a.held() == b.held() && a.who != b.who:
		return "one fence for two holders"
	case a.kind == open && a.held() > b.held() && a.end < b.start:
		return "a lower fence was good after a higher one"
	case b.kind == consume && a.kind == consume && a.call == b.call && a.nonce != b.nonce:
		return "one allow was consumed with two nonces"
	// The next holder comes when the lease that a renewed is over, or later.
	case b.kind == open && b.held() == a.held()+1 && b.end < a.first+lease:
		return "it was opened again within a lease"
	}
	return ""
}
