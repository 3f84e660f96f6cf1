package notify

import (
	"time"

	"github.com/gatelatch/gatelatch"
)

// A channel takes a burst of each agent, and then one message now and then: an
// agent that asks without end is a nuisance on the page, must not be one in a
// mailbox, and delays nobody else's.
const (
	burst = 20
	drip  = 30 * time.Second
)

// share is what a channel sends for one agent; without one, for all.
type share struct{ channel, agent string }

// bucket holds what may still be sent of a share.
type bucket struct {
	left int
	at   time.Time // when it was last filled
	slot time.Time // the last that was given away
}

func (b *bucket) fill(now time.Time) {
	if n := int(now.Sub(b.at) / drip); n > 0 {
		b.left = min(burst, b.left+n)
		b.at = b.at.Add(time.Duration(n) * drip)
	}
}

func (b *bucket) spend(n int) { b.left -= n }

func (o *Outbox) rate(s share) *bucket {
	if o.rates[s] == nil {
		o.rates[s] = &bucket{left: burst}
	}
	return o.rates[s]
}

// room reports whether a channel may take one more message now. What takes
// something back always may.
func (o *Outbox) room(m *gatelatch.Message, s share, spent map[share]int, now time.Time) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	b := o.rate(s)
	if b.at.IsZero() {
		b.at = now
	}
	b.fill(now)
	if o.busy[s.channel]+spent[share{channel: s.channel}] >= perChannel {
		return false
	}
	return m.Kind == gatelatch.SettledMessage || spent[s] < b.left
}

// slot is when a message may go for which the rate leaves no room: each gets one
// behind the last. ok is false if it is not the rate that is in the way.
func (o *Outbox) slot(s share, spent map[share]int, now time.Time) (at time.Time, ok bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	b := o.rate(s)
	if spent[s] < b.left {
		return now, false
	}
	if b.slot.Before(now) {
		b.slot = now
	}
	b.slot = b.slot.Add(drip)
	return b.slot, true
}
