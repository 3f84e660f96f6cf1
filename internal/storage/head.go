package storage

import (
	"errors"
	"time"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/audit"
)

// Head is the end of the trail.
type Head struct {
	Seq  gatelatch.Seq
	At   time.Time
	Link gatelatch.Sum
}

// Take puts e behind h and makes it the end. Times in the trail never run
// backwards.
func (h *Head) Take(e *gatelatch.Event) {
	if e.Body == nil {
		e.Body = []byte{}
	}
	e.At = e.At.UTC().Truncate(time.Microsecond)
	if e.At.Before(h.At) {
		e.At = h.At
	}
	e.Seq, e.Prev = h.Seq+1, h.Link
	e.Link = audit.Link(*e)
	*h = Head{e.Seq, e.At, e.Link}
}

// HeadOf checks that events are the last of the trail and returns its end.
func HeadOf(last []gatelatch.Event) (Head, error) {
	if len(last) == 0 {
		return Head{}, nil
	}
	e := last[0]
	if len(last) > 1 || audit.Link(e) != e.Link {
		return Head{}, errors.New("the audit trail is damaged at its end")
	}
	return Head{e.Seq, e.At, e.Link}, nil
}
