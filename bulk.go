package gatelatch

import (
	"maps"
	"sync"
	"time"
)

// bulk is how much agents sent lately, whatever became of it. It is counted in
// this process alone: a row for each call would cost more than it guards.
type bulk struct {
	mu   sync.Mutex
	full map[sender]time.Time // when all that was sent is paid off
}

// sender is a session; without one, its key.
type sender struct{ agent, session string }

const (
	day       = 24 * time.Hour
	callBytes = 1 << 10 // what a call takes beside its input
	mostBulk  = 1024    // senders, then those that owe nothing are forgotten
)

// take counts what a session sends, and refuses what is more than it may in a
// day, or all of its key together.
func (u *bulk) take(q Quota, agent, session string, calls []ProposedCall) error {
	if q.Daily <= 0 {
		return nil
	}
	now, size := time.Now(), len(calls)*callBytes
	for i := range calls {
		size += len(calls[i].Input)
	}
	own, key := sender{agent, session}, sender{agent: agent}
	u.mu.Lock()
	defer u.mu.Unlock()
	u.forget(now)
	ownFull, keyFull := u.owes(own, q.Daily, size, now), u.owes(key, q.all().Daily, size, now)
	if ownFull.Sub(now) > day || keyFull.Sub(now) > day {
		return invalid("this agent sent too much: %d MiB a day are kept. Go on with less, or later", q.Daily>>20)
	}
	u.full[own], u.full[key] = ownFull, keyFull
	return nil
}

// add counts what can't be refused: a result.
func (u *bulk) add(q Quota, agent string, size int) {
	if q.Daily <= 0 || size == 0 {
		return
	}
	now := time.Now()
	u.mu.Lock()
	defer u.mu.Unlock()
	u.forget(now)
	u.full[sender{agent: agent}] = u.owes(sender{agent: agent}, q.all().Daily, size, now)
}

// owes is when one more would be paid off. The lock is held.
func (u *bulk) owes(s sender, daily, size int, now time.Time) time.Time {
	return later(u.full[s], now).Add(time.Duration(float64(day) / float64(daily) * float64(size)))
}

func (u *bulk) forget(now time.Time) {
	if u.full == nil {
		u.full = map[sender]time.Time{}
	}
	if len(u.full) > mostBulk {
		maps.DeleteFunc(u.full, func(_ sender, full time.Time) bool { return !full.After(now) })
	}
}
