package toolset

import (
	"container/list"
	"encoding/json"
	"sync"
)

// maxKept is how many calls at once have their input kept.
const maxKept = 1024

// kept holds what calls really ran with, by call id, from before they run until
// after-hooks are told (O6). It is bounded: the oldest goes first.
type kept struct {
	mu    sync.Mutex
	byID  map[string]*list.Element
	order list.List // of keptInput, the oldest in front
}

type keptInput struct {
	id    string
	input json.RawMessage
}

func (k *kept) put(id string, input json.RawMessage) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.byID == nil {
		k.byID = map[string]*list.Element{}
	}
	if e, ok := k.byID[id]; ok {
		k.order.Remove(e)
	}
	k.byID[id] = k.order.PushBack(keptInput{id, input})
	if k.order.Len() > maxKept {
		k.drop(k.order.Front())
	}
}

// take returns an input once.
func (k *kept) take(id string) (json.RawMessage, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	e, ok := k.byID[id]
	if !ok {
		return nil, false
	}
	return k.drop(e).input, true
}

func (k *kept) drop(e *list.Element) keptInput {
	in, _ := k.order.Remove(e).(keptInput)
	delete(k.byID, in.id)
	return in
}
