package backup

import (
	"time"

	"github.com/gatelatch/gatelatch"
)

// event is one line of the trail. Its texts are bytes: the hash is over them as
// they are, and JSON would rewrite what is not UTF-8.
type event struct {
	Seq    int64         `json:"seq"`
	At     int64         `json:"at"` // microseconds
	Kind   string        `json:"kind"`
	ByKind string        `json:"by_kind"`
	ByID   []byte        `json:"by_id"`
	ByName []byte        `json:"by_name"`
	Batch  []byte        `json:"batch"`
	Call   []byte        `json:"call"`
	Body   []byte        `json:"body"`
	Prev   gatelatch.Sum `json:"prev"`
	Link   gatelatch.Sum `json:"link"`
}

func encode(e gatelatch.Event) event {
	return event{
		Seq: int64(e.Seq), At: e.At.UnixMicro(), Kind: string(e.Kind),
		ByKind: string(e.By.Kind), ByID: []byte(e.By.ID), ByName: []byte(e.By.Name),
		Batch: []byte(e.Batch), Call: []byte(e.Call), Body: e.Body, Prev: e.Prev, Link: e.Link,
	}
}

func (e *event) decode() gatelatch.Event {
	return gatelatch.Event{
		Seq: gatelatch.Seq(e.Seq), At: time.UnixMicro(e.At).UTC(), Kind: gatelatch.EventKind(e.Kind),
		By:    gatelatch.Actor{Kind: gatelatch.ActorKind(e.ByKind), ID: string(e.ByID), Name: string(e.ByName)},
		Batch: string(e.Batch), Call: string(e.Call), Body: e.Body, Prev: e.Prev, Link: e.Link,
	}
}
