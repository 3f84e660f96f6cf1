package storage

import "github.com/gatelatch/gatelatch"

// Columns are what a batch is found by.
type Columns struct {
	Permits   bool
	Due, Over *int64
	Pair      []byte // as long as a repetition may find the batch by it
}

// ColumnsOf returns those of b.
func ColumnsOf(b *gatelatch.Batch) Columns {
	x := b.Index()
	c := Columns{Permits: x.Permits, Due: Micros(x.Due), Over: Micros(x.Over)}
	if !x.Opened && !b.Gone() {
		c.Pair = Bytes(b.Pair)
	}
	return c
}

// A CallRow is what a call is found by. The batch's body is the truth.
type CallRow struct {
	*gatelatch.Call
	Pos     int
	Created int64
	Settled *int64
	Result  []byte // its sum, or nil

	New      bool // the row is not there yet
	NewInput bool // the input may not be known yet
	Edited   bool // and replaces another
	Moved    bool // the state may be another
}

// Changed returns the calls of b whose rows have to be written: all of a batch
// that is new, otherwise those that its events name.
func Changed(b *gatelatch.Batch) (rows []CallRow) {
	touched := map[string]*CallRow{}
	for _, e := range b.Events() {
		if e.Call == "" || e.Kind == gatelatch.CallConsumed {
			continue
		}
		r := touched[e.Call]
		if r == nil {
			r = &CallRow{Created: b.Created.UnixMicro()}
			touched[e.Call] = r
		}
		switch e.Kind {
		case gatelatch.CallProposed:
			r.New, r.NewInput, r.Created = true, true, e.At.UnixMicro()
		case gatelatch.CallEdited:
			r.NewInput, r.Edited = true, true
		case gatelatch.CallReported:
		default:
			r.Moved = true
		}
	}
	for i, c := range b.Calls {
		r := touched[c.ID]
		switch {
		case r == nil && b.Version > 0:
			continue
		case r == nil:
			r = &CallRow{Created: b.Created.UnixMicro()}
		}
		r.Call, r.Pos = c, i
		r.New = r.New || b.Version == 0
		if c.Decided != nil {
			r.Settled = Micros(c.Decided.At)
		}
		if c.Outcome != nil {
			r.Result = Bytes(c.Outcome.ResultSum)
		}
		rows = append(rows, *r)
	}
	return rows
}

// NewResult returns the result that was reported with the call, if there is one
// to write.
func (r *CallRow) NewResult() []byte {
	if r.Result == nil {
		return nil
	}
	return r.Outcome.Result
}
