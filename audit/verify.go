package audit

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/gatelatch/gatelatch"
)

// A Report says what a trail holds, as far as it was found whole.
type Report struct {
	Events      int64         `json:"events"`
	First       time.Time     `json:"first,omitzero"`
	Last        time.Time     `json:"last,omitzero"`
	Seq         gatelatch.Seq `json:"seq"`  // of the last event
	Link        gatelatch.Sum `json:"head"` // of the last event
	Checkpoints int           `json:"checkpoints"`
	Vouched     gatelatch.Seq `json:"vouched"`    // the last event that a checkpoint saw
	Signatures  int64         `json:"signatures"` // of passkeys, all good
}

// A Verifier checks a trail against its chain, against checkpoints and by the
// signatures in it, event by event.
type Verifier struct {
	chain  Chain
	due    []Checkpoint // not met yet, by number
	signed signatures
	report Report
}

// NewVerifier returns a verifier of a whole trail. The checkpoints are good:
// [ReadCheckpoints] has checked who signed them.
func NewVerifier(checkpoints []Checkpoint) *Verifier {
	due := slices.Clone(checkpoints)
	slices.SortStableFunc(due, func(a, b Checkpoint) int { return cmp.Compare(a.Seq, b.Seq) })
	return &Verifier{due: due}
}

// Next checks that e is the next event.
func (v *Verifier) Next(e gatelatch.Event) error { return v.next(e, Link(e)) }

func (v *Verifier) next(e gatelatch.Event, link gatelatch.Sum) error {
	if err := v.chain.next(e, link); err != nil {
		return err
	}
	if v.report.Events++; v.report.Events == 1 {
		v.report.First = e.At
	}
	v.report.Last, v.report.Seq, v.report.Link = e.At, e.Seq, e.Link
	if err := v.signed.next(&e); err != nil {
		return err
	}
	v.report.Signatures = v.signed.count
	for ; len(v.due) > 0 && v.due[0].Seq == e.Seq; v.due = v.due[1:] {
		if c := v.due[0]; c.Link != e.Link {
			return fmt.Errorf("event %d is not the one that %s saw: something behind event %d was rewritten", e.Seq, c, v.report.Vouched)
		}
		v.report.Checkpoints++
		v.report.Vouched = e.Seq
	}
	return nil
}

// End checks that no event is missing at the end.
func (v *Verifier) End() error {
	if len(v.due) == 0 {
		return nil
	}
	c := v.due[len(v.due)-1]
	return fmt.Errorf("the trail ends at event %d, but %s saw event %d: the end was cut off", v.report.Seq, c, c.Seq)
}

// Report says what was found whole so far.
func (v *Verifier) Report() Report { return v.report }

// Verify checks an export. The error says where it breaks.
func Verify(r io.Reader, checkpoints []Checkpoint) (Report, error) {
	v := NewVerifier(checkpoints)
	line := 0
	for c := range pieces(r) {
		for i := range c.events {
			line++
			if err := v.next(c.events[i], c.links[i]); err != nil {
				return v.Report(), fmt.Errorf("line %d: %w", line, err)
			}
		}
		if c.err != nil {
			return v.Report(), fmt.Errorf("line %d: %w", line+1, c.err)
		}
	}
	return v.Report(), v.End()
}
