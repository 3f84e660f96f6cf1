package auth

import (
	"context"
	"maps"
	"time"

	"github.com/gatelatch/gatelatch"
)

// use is when a key was last shown, and what the store knows of it.
type use struct{ last, noted time.Time }

// use notes that a key was shown. The caller holds mu.
func (a *Auth) use(k *gatelatch.Key, now time.Time) { a.used[k.ID] = use{now, k.Used} }

// lastUse is the later of what is known here and in the store. The caller holds mu.
func (a *Auth) lastUse(k *gatelatch.Key) time.Time {
	if seen := a.used[k.ID].last; seen.After(k.Used) {
		return seen
	}
	return k.Used
}

// idle reports whether a browser was not used for too long. The caller holds mu.
func (a *Auth) idle(k *gatelatch.Key, now time.Time) bool {
	return k.Kind == gatelatch.BrowserKey && now.Sub(a.lastUse(k)) > BrowserIdle
}

// Flush writes down when keys were last used, so that a restart logs no browser
// out: all that changed, or those with much to note. No request waits for it.
func (a *Auth) Flush(ctx context.Context, all bool) error {
	a.mu.Lock()
	late := map[string]time.Time{}
	for id, u := range a.used {
		if d := u.last.Sub(u.noted); d >= touchEvery || all && d > 0 {
			late[id] = u.last
		}
	}
	a.mu.Unlock()
	if len(late) == 0 {
		return nil
	}
	err := a.store.Update(ctx, func(tx gatelatch.Tx) error {
		for id, last := range late {
			k, err := tx.Key(id)
			if err != nil {
				return err
			}
			if !last.After(k.Used) || !k.Revoked.IsZero() {
				continue
			}
			k.Used = last
			if err := tx.SaveKey(k); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	for id, last := range late {
		a.used[id] = use{a.used[id].last, last}
	}
	return nil
}

// forgetUse drops what the store knows as well. The caller holds mu.
func (a *Auth) forgetUse(now time.Time) {
	maps.DeleteFunc(a.used, func(_ string, u use) bool { return now.Sub(u.last) > BrowserIdle })
}
