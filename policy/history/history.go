// Package history replays recorded calls: what other rules would have said
// about them, and which rules would have saved questions.
//
// What is replayed was judged long ago on a disk that has changed since. Links
// are followed as they are now, and a path that no longer exists is taken as it
// is written. So a replay says what the rules would do with these calls today;
// where it matters that nothing is let through, the paths are also read as they
// were written, and one reading that allows is enough to count.
package history

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"time"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/internal/strictjson"
)

// A Record is one settled call.
type Record struct {
	Call    string           `json:"call"`
	At      time.Time        `json:"at"`
	Kind    gatelatch.Kind   `json:"kind"`
	Tool    string           `json:"tool"`
	Input   json.RawMessage  `json:"input"` // as it was decided
	Dir     string           `json:"dir,omitempty"`
	Project string           `json:"project,omitempty"`
	Effect  gatelatch.Effect `json:"effect"`          // what the rules said
	Grant   string           `json:"grant,omitempty"` // the remembered matcher that allowed it
	State   gatelatch.State  `json:"state"`
	By      string           `json:"by"` // the kind of actor that settled it; "pause" if a pause did
}

// ByPause settles what waits when everything is stopped: nobody looked at it.
const ByPause = "pause"

// Asked reports whether a person was asked.
func (r *Record) Asked() bool { return r.Effect == gatelatch.Ask }

// Refused reports whether a person said no, also by taking back an allow.
func (r *Record) Refused() bool {
	return r.By == string(gatelatch.PersonActor) && (r.State == gatelatch.Denied || r.State == gatelatch.Revoked)
}

// Agreed reports whether a person was asked and allowed it.
func (r *Record) Agreed() bool {
	return r.Asked() && r.By == string(gatelatch.PersonActor) && r.State == gatelatch.Allowed
}

// call returns what policy judges. Modes are left out: they were a person's
// choice for a while, and no rule should rest on one.
func (r *Record) call() (*gatelatch.Call, *gatelatch.Session) {
	c := &gatelatch.Call{ID: r.Call, Kind: r.Kind, Tool: r.Tool, Input: r.Input, Dir: r.Dir}
	return c, &gatelatch.Session{ID: "history", Project: r.Project}
}

// A Source gives the records, and gives them again when asked again. It stops
// at the first error.
type Source = iter.Seq2[Record, error]

// maxLine is a full input with everything around it.
const maxLine = 2 * gatelatch.MostInput

// Read reads what Write wrote. open is called for each reading.
func Read(open func() (io.ReadCloser, error)) Source {
	return func(yield func(Record, error) bool) {
		f, err := open()
		if err != nil {
			yield(Record{}, err)
			return
		}
		defer f.Close()
		lines := bufio.NewScanner(f)
		lines.Buffer(make([]byte, 64<<10), maxLine)
		for n := 1; lines.Scan(); n++ {
			var r Record
			if err := parse(lines.Bytes(), &r); err != nil {
				yield(r, fmt.Errorf("line %d: %w", n, err))
				return
			}
			if !yield(r, nil) {
				return
			}
		}
		if err := lines.Err(); err != nil {
			yield(Record{}, err)
		}
	}
}

func parse(line []byte, r *Record) error {
	if err := strictjson.Check(line); err != nil {
		return err
	}
	if err := json.Unmarshal(line, r); err != nil {
		return err
	}
	switch {
	case r.Tool == "" || r.Kind == "" || len(r.Input) == 0:
		return errors.New("no recorded call: tool, kind or input is missing")
	case !r.State.Settled():
		return fmt.Errorf("state %.20q is none of a settled call", r.State)
	}
	return nil
}

// Write writes one record as a line of JSON.
func Write(w io.Writer, r Record) error {
	line, err := strictjson.Marshal(r)
	if err == nil {
		_, err = w.Write(append(line, '\n'))
	}
	return err
}
