package notify

import (
	"maps"
	"time"

	"github.com/gatelatch/gatelatch"
)

// A channel takes a burst of each session, and then one message now and then: an
// agent that asks without end is a nuisance on the page, must not be one in a
// mailbox, and delays nobody else's. A session is only a name, which an agent
// can invent: all of one key have some times that together.
const (
	burst    = 20
	drip     = 30 * time.Second
	together = 4
)

// share is what a channel sends for one session; without one for its agent, and
// without either for all.
type share struct{ channel, agent, session string }

// both are the shares that a message counts for, the narrower first.
func (s share) both() []share { return []share{s, {channel: s.channel, agent: s.agent}} }

// bucket holds what may still be sent of a share.
type bucket struct {
	most int
	each time.Duration // until there is one more
	left int
	at   time.Time // when it was last filled
	slot time.Time // the last that was given away
}

func (b *bucket) fill(now time.Time) {
	if b.at.IsZero() {
		b.at = now
	}
	if n := int(now.Sub(b.at) / b.each); n > 0 {
		b.left = min(b.most, b.left+n)
		b.at = b.at.Add(time.Duration(n) * b.each)
	}
}

func (b *bucket) spend(n int) { b.left -= n }

func (o *Outbox) rate(s share) *bucket {
	if o.rates[s] == nil {
		o.rates[s] = &bucket{most: burst, each: drip, left: burst}
		if s.session == "" {
			o.rates[s] = &bucket{most: together * burst, each: drip / together, left: together * burst}
		}
	}
	return o.rates[s]
}

// forgetRates drops what is as good as new. The lock is held.
func (o *Outbox) forgetRates(now time.Time) {
	maps.DeleteFunc(o.rates, func(_ share, b *bucket) bool {
		b.fill(now)
		return b.left == b.most && !b.slot.After(now)
	})
}

// room reports whether a channel may take one more message now. What takes
// something back always may.
func (o *Outbox) room(m *gatelatch.Message, of share, spent map[share]int, now time.Time) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.busy[of.channel]+spent[share{channel: of.channel}] >= perChannel {
		return false
	}
	for _, s := range of.both() {
		b := o.rate(s)
		if b.fill(now); m.Kind != gatelatch.SettledMessage && spent[s] >= b.left {
			return false
		}
	}
	return true
}

// slot is when a message may go for which the rate leaves no room: each gets one
// behind the last. Who is over its own takes none from the others of its key. ok
// is false if it is not the rate that is in the way.
func (o *Outbox) slot(of share, spent map[share]int, now time.Time) (at time.Time, ok bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, s := range of.both() {
		b := o.rate(s)
		if spent[s] < b.left {
			continue
		}
		if b.slot.Before(now) {
			b.slot = now
		}
		b.slot = b.slot.Add(b.each)
		return b.slot, true
	}
	return now, false
}
