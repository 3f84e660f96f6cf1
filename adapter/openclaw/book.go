package openclaw

import (
	"sync"
	"time"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/adapter/ask"
)

// maxBook is how many names of requests are remembered, the newest ones. Who
// uses one that is forgotten requests it again, and finds the same.
const maxBook = 10_000

// Book knows by which names agents call their requests. It is for all
// connections of a gateway.
type Book struct {
	mu    sync.Mutex
	ids   map[[2]string]string // agent and name → batch
	order [][2]string
}

func (b *Book) put(agent string, e entry) {
	if e.id == e.batch {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	key := [2]string{agent, e.id}
	if b.ids == nil {
		b.ids = map[[2]string]string{}
	}
	if _, known := b.ids[key]; !known {
		b.order = append(b.order, key)
	}
	b.ids[key] = e.batch
	if len(b.order) > maxBook {
		delete(b.ids, b.order[0])
		b.order = b.order[1:]
	}
}

// batch is the request that an agent calls by that name, or one that it did not
// name and knows by its batch.
func (b *Book) batch(agent, name string) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	if id, ok := b.ids[[2]string{agent, name}]; ok {
		return id
	}
	return name
}

// entry is an approval as its agent sees it (O10).
type entry struct {
	id, batch        string
	created, expires time.Time
}

func entryOf(name string, b *gatelatch.Batch) entry {
	e := entry{id: name, batch: b.ID, created: b.Created}
	if e.id == "" {
		e.id = b.ID
	}
	if len(b.Calls) == 1 {
		e.expires = b.Calls[0].Deadline
	}
	return e
}

func (e entry) payload() map[string]any {
	return map[string]any{"id": e.id, "createdAtMs": millis(e.created), "expiresAtMs": millis(e.expires)}
}

func (e entry) accepted() any {
	p := e.payload()
	p["status"] = "accepted"
	return p
}

// decided is never allow-always: what is remembered is remembered here, where
// it can be revoked.
func (e entry) decided(a ask.Answer) any {
	p := e.payload()
	switch {
	case a.Allowed:
		p["decision"] = allowOnce
	case a.Expired:
		p["decision"] = nil
	default:
		p["decision"] = deny
		p["reason"] = a.Text
	}
	return p
}
