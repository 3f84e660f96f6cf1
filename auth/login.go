package auth

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/internal/id"
)

// code is a login link that nobody has used yet. Who logs in with it gets the
// name and role of who made it, and ends with them.
type code struct {
	ends   time.Time
	name   string
	role   gatelatch.Role
	parent string
	near   bool // made at the approver's socket
}

// Code makes a login code: single use, one minute. A browser's is for another
// device of the same person; one that was let in that way itself makes none.
func (a *Auth) Code(ctx context.Context, by *gatelatch.Key) (secret string, ends time.Time, err error) {
	return a.code(ctx, by, false)
}

// NearCode makes one for who is at the approver's socket. Whom it lets in may
// add the first passkey.
func (a *Auth) NearCode(ctx context.Context, by *gatelatch.Key) (secret string, ends time.Time, err error) {
	return a.code(ctx, by, true)
}

func (a *Auth) code(ctx context.Context, by *gatelatch.Key, near bool) (secret string, ends time.Time, err error) {
	var now time.Time
	err = a.store.View(ctx, func(r gatelatch.Reader) error {
		now = r.Now()
		if by.Parent == "" {
			return nil
		}
		parent, err := r.Key(by.Parent)
		if err == nil && parent.Kind == gatelatch.BrowserKey {
			err = fmt.Errorf("another device let this one in: %w", gatelatch.ErrForbidden)
		}
		return err
	})
	if err == nil && by.Kind == gatelatch.AskKey {
		err = fmt.Errorf("an agent logs nobody in: %w", gatelatch.ErrForbidden)
	}
	if err != nil {
		return "", time.Time{}, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.forgetCodes(now)
	secret, ends = id.Code("glc"), now.Add(CodeLife)
	a.codes[hash(secret)] = code{ends, by.Name, by.Role(), by.ID, near}
	return secret, ends, nil
}

// forgetCodes drops codes that ended, and the oldest while there are too many.
// The caller holds mu.
func (a *Auth) forgetCodes(now time.Time) {
	for len(a.codes) > 0 {
		var oldest gatelatch.Sum
		var ends time.Time
		for h, c := range a.codes {
			if ends.IsZero() || c.ends.Before(ends) {
				oldest, ends = h, c.ends
			}
		}
		if now.Before(ends) && len(a.codes) < maxCodes {
			return
		}
		delete(a.codes, oldest)
	}
}

// Login trades a code for the two halves of a browser session. The code is
// used up first: a crash costs a new link, never a second session.
func (a *Auth) Login(ctx context.Context, secret, from string) (cookie, page string, k *gatelatch.Key, err error) {
	return a.LoginAt(ctx, secret, from, "")
}

// LoginAt is Login on a page of that domain.
func (a *Auth) LoginAt(ctx context.Context, secret, from, domain string) (cookie, page string, k *gatelatch.Key, err error) {
	now, err := a.Now(ctx)
	if err != nil {
		return "", "", nil, err
	}
	c, ok := a.take(secret, now)
	if !ok {
		if !a.guesses.wrong(from) {
			return "", "", nil, ErrGuessing
		}
		return "", "", nil, ErrCode
	}
	cookie, page = id.Secret(browserPrefix), id.Secret(pagePrefix)
	k = &gatelatch.Key{
		ID: id.New("key"), Kind: gatelatch.BrowserKey, Name: c.name, Given: c.role, Parent: c.parent,
		Hash: hash(cookie), Second: hash(page), Created: c.ends.Add(-CodeLife), Used: now,
	}
	if c.near {
		k.Near = domain
	}
	err = a.store.Update(ctx, func(tx gatelatch.Tx) error {
		if err := holds(tx, k); errors.Is(err, ErrNobody) {
			return ErrCode // who made the code has ended
		} else if err != nil {
			return err
		}
		return create(tx, k, gatelatch.Actor{Kind: gatelatch.GatewayActor})
	})
	if err == nil {
		a.guesses.right(k.Hash)
	}
	return cookie, page, k, err
}

// Now is the time that keys expire by: the store's.
func (a *Auth) Now(ctx context.Context) (now time.Time, err error) {
	err = a.store.View(ctx, func(r gatelatch.Reader) error { now = r.Now(); return nil })
	return now, err
}

// take uses a code up. It also forgets keys that are long gone.
func (a *Auth) take(secret string, now time.Time) (code, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.forgetUse(now)
	c, ok := a.codes[hash(secret)]
	delete(a.codes, hash(secret))
	return c, ok && now.Before(c.ends)
}
