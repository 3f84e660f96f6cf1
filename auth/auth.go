// Package auth says who asks: keys of agents and command lines, sessions of
// browsers, and the one-time codes that start them. There is no request
// without a principal, on loopback no more than anywhere.
package auth

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/api"
	"github.com/gatelatch/gatelatch/internal/id"
)

// Lifetimes.
const (
	CodeLife    = time.Minute
	BrowserIdle = 12 * time.Hour
	BrowserLife = 30 * 24 * time.Hour // from the login; idle ends a session sooner
	maxCodes    = 16
	touchEvery  = 10 * time.Minute
)

// Prefixes of secrets, so that scanners recognise them.
const (
	askPrefix     = "gka"
	decidePrefix  = "gkd"
	browserPrefix = "gkb"
	pagePrefix    = "gkp"
)

var (
	// ErrNobody means that the request shows no valid credential.
	ErrNobody = errors.New("not logged in")
	// ErrCode means that a login code is unknown, used or too old.
	ErrCode = errors.New("this login link was used before or has expired")
)

// Auth checks credentials against the store.
type Auth struct {
	store gatelatch.Store
	name  string // of the person whose gateway this is

	mu    sync.Mutex
	codes map[gatelatch.Sum]code // by the hash of the code
	used  map[string]time.Time   // browser key → last use; GET must not write

	proofs map[string]time.Time // nonce → when it may be forgotten
}

type code struct {
	ends   time.Time
	parent string // the browser that it was made in, if not on the command line
}

// New returns an Auth for the person with that name.
func New(store gatelatch.Store, person string) *Auth {
	return &Auth{store: store, name: person, codes: map[gatelatch.Sum]code{}, used: map[string]time.Time{}, proofs: map[string]time.Time{}}
}

func hash(secret string) gatelatch.Sum { return gatelatch.SumOf([]byte(secret)) }

// A Request is what is known of a request before its body is read.
type Request struct {
	Method, Target string // GET, /v1/calls?state=pending
	Header         http.Header
	Cookies        []string // those that may be a browser's half of its session
}

// Shown is who a request is from.
type Shown struct {
	Key  *gatelatch.Key
	Body *gatelatch.Sum // what the page signed as its body; nil for a bearer key
}

// Verify returns whom the request shows: by a bearer key, or by a cookie and a
// proof of the page's half together. A request that shows both kinds, or one
// header twice, shows none: no check is ever lowered by adding. Of several
// cookies the one that fits counts, since any page of the host can set more.
func (a *Auth) Verify(ctx context.Context, r Request) (Shown, error) {
	bearer, page := r.Header.Values("Authorization"), r.Header.Values(api.PageHeader)
	switch {
	case len(bearer) == 1 && len(page) == 0 && len(r.Cookies) == 0:
		k, err := a.bearer(ctx, bearer[0])
		return Shown{Key: k}, err
	case len(bearer) != 0 || len(page) != 1:
		return Shown{}, ErrNobody
	}
	p, ok := parseProof(page[0])
	if !ok {
		return Shown{}, ErrNobody
	}
	for _, c := range r.Cookies {
		if k, err := a.browser(ctx, c, p, r); !errors.Is(err, ErrNobody) {
			return Shown{k, &p.body}, err
		}
	}
	return Shown{}, ErrNobody
}

// Valid reports whether a key that was shown before still is one.
func (a *Auth) Valid(ctx context.Context, keyID string) bool {
	err := a.store.View(ctx, func(r gatelatch.Reader) error {
		k, err := r.Key(keyID)
		if err == nil {
			err = holds(r, k)
		}
		return err
	})
	return err == nil
}

// holds returns ErrNobody for a key that was revoked, itself or with who let
// it in, and for a browser's that is too old.
func holds(r gatelatch.Reader, k *gatelatch.Key) error {
	if !k.Revoked.IsZero() || k.Kind == gatelatch.BrowserKey && r.Now().Sub(k.Created) >= BrowserLife {
		return ErrNobody
	}
	if k.Parent == "" {
		return nil
	}
	parent, err := r.Key(k.Parent)
	switch {
	case errors.Is(err, gatelatch.ErrNotFound), err == nil && !parent.Revoked.IsZero():
		return ErrNobody
	}
	return err
}

func (a *Auth) bearer(ctx context.Context, header string) (*gatelatch.Key, error) {
	secret, ok := strings.CutPrefix(header, "Bearer ")
	if !ok {
		return nil, ErrNobody
	}
	k, _, err := a.find(ctx, secret)
	if err != nil {
		return nil, err
	}
	if k.Kind != gatelatch.AskKey && k.Kind != gatelatch.DecideKey {
		return nil, ErrNobody
	}
	return k, nil
}

func (a *Auth) browser(ctx context.Context, cookie string, p proof, r Request) (*gatelatch.Key, error) {
	k, now, err := a.find(ctx, cookie)
	if err != nil {
		return nil, err
	}
	if k.Kind != gatelatch.BrowserKey || !p.fits(k.Second, r.Method, r.Target) {
		return nil, ErrNobody
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	last := k.Used
	if seen := a.used[k.ID]; seen.After(last) {
		last = seen
	}
	if now.Sub(last) > BrowserIdle {
		delete(a.used, k.ID)
		return nil, ErrNobody
	}
	if !a.fresh(p, now) {
		return nil, ErrNobody
	}
	a.used[k.ID] = now
	return k, nil
}

// find looks a secret up by its hash, so that the lookup's time tells nothing
// about the secret.
func (a *Auth) find(ctx context.Context, secret string) (k *gatelatch.Key, now time.Time, err error) {
	err = a.store.View(ctx, func(r gatelatch.Reader) error {
		now = r.Now()
		if k, err = r.KeyByHash(hash(secret)); err != nil {
			return err
		}
		return holds(r, k)
	})
	switch {
	case errors.Is(err, gatelatch.ErrNotFound):
		return nil, now, ErrNobody
	case err != nil:
		return nil, now, err
	}
	return k, now, nil
}

// Code makes a login code: single use, one minute.
func (a *Auth) Code(ctx context.Context) (secret string, ends time.Time, err error) {
	return a.code(ctx, "")
}

// CodeBy makes a login code for another device of who has a browser. One that
// was let in that way itself makes none.
func (a *Auth) CodeBy(ctx context.Context, k *gatelatch.Key) (secret string, ends time.Time, err error) {
	switch {
	case k.Parent != "":
		return "", time.Time{}, fmt.Errorf("another device let this one in: %w", gatelatch.ErrForbidden)
	case k.Kind != gatelatch.BrowserKey:
		return a.Code(ctx)
	}
	return a.code(ctx, k.ID)
}

func (a *Auth) code(ctx context.Context, parent string) (secret string, ends time.Time, err error) {
	now, err := a.now(ctx)
	if err != nil {
		return "", time.Time{}, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.forget(now)
	secret, ends = id.New("glc"), now.Add(CodeLife)
	a.codes[hash(secret)] = code{ends, parent}
	return secret, ends, nil
}

func (a *Auth) now(ctx context.Context) (now time.Time, err error) {
	err = a.store.View(ctx, func(r gatelatch.Reader) error { now = r.Now(); return nil })
	return now, err
}

// forget drops codes that ended, and the oldest while there are too many.
func (a *Auth) forget(now time.Time) {
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
func (a *Auth) Login(ctx context.Context, secret string) (cookie, page string, k *gatelatch.Key, err error) {
	now, err := a.now(ctx)
	if err != nil {
		return "", "", nil, err
	}
	c, ok := a.take(secret, now)
	if !ok {
		return "", "", nil, ErrCode
	}
	cookie, page = id.Secret(browserPrefix), id.Secret(pagePrefix)
	k = &gatelatch.Key{ID: id.New("key"), Kind: gatelatch.BrowserKey, Name: a.name, Hash: hash(cookie), Second: hash(page), Parent: c.parent, Created: now, Used: now}
	err = a.store.Update(ctx, func(tx gatelatch.Tx) error {
		if err := holds(tx, k); errors.Is(err, ErrNobody) {
			return ErrCode // who made the code has logged out
		} else if err != nil {
			return err
		}
		return create(tx, k)
	})
	return cookie, page, k, err
}

// take uses a code up. It also forgets browsers that are long gone.
func (a *Auth) take(secret string, now time.Time) (code, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	maps.DeleteFunc(a.used, func(_ string, last time.Time) bool { return now.Sub(last) > BrowserIdle })
	c, ok := a.codes[hash(secret)]
	delete(a.codes, hash(secret))
	return c, ok && now.Before(c.ends)
}

func create(tx gatelatch.Tx, k *gatelatch.Key) error {
	if err := tx.SaveKey(k); err != nil {
		return err
	}
	by := gatelatch.Actor{Kind: gatelatch.GatewayActor}
	return tx.Record(gatelatch.Event{Kind: gatelatch.KeyCreated, By: by, At: k.Created, Body: []byte(`{"key":"` + k.ID + `","kind":"` + string(k.Kind) + `"}`)})
}

// Revoke ends a key at once.
func (a *Auth) Revoke(ctx context.Context, keyID string, by gatelatch.Actor) error {
	return a.store.Update(ctx, func(tx gatelatch.Tx) error {
		k, err := tx.Key(keyID)
		if err != nil || !k.Revoked.IsZero() {
			return err
		}
		k.Revoked = tx.Now()
		if err := tx.SaveKey(k); err != nil {
			return err
		}
		return tx.Record(gatelatch.Event{Kind: gatelatch.KeyRevoked, By: by, At: k.Revoked, Body: []byte(`{"key":"` + k.ID + `"}`)})
	})
}

// Touch notes that a browser was used, so that a restart does not log it out.
// It is called where a request may write.
func (a *Auth) Touch(ctx context.Context, k *gatelatch.Key) error {
	if k.Kind != gatelatch.BrowserKey {
		return nil
	}
	return a.store.Update(ctx, func(tx gatelatch.Tx) error {
		now := tx.Now()
		k, err := tx.Key(k.ID)
		if err != nil || now.Sub(k.Used) < touchEvery || !k.Revoked.IsZero() {
			return err
		}
		k.Used = now
		return tx.SaveKey(k)
	})
}
