// Package auth says who asks: keys of agents and command lines, sessions of
// browsers, and the one-time codes that start them. There is no request
// without a principal, on loopback no more than anywhere.
package auth

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/api"
)

// Lifetimes.
const (
	CodeLife    = time.Minute
	BrowserIdle = 12 * time.Hour
	BrowserLife = 30 * 24 * time.Hour // from the login; idle ends a session sooner
	maxCodes    = 16
	touchEvery  = 10 * time.Minute
	maxParents  = 4 // a key, a browser, a device of its
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
	// ErrGuessing means that too many credentials were wrong to look at another.
	ErrGuessing = errors.New("too many wrong keys or links came from there")
	// ErrCode means that a login code is unknown, used or too old.
	ErrCode = errors.New("this login link was used before or has expired")
)

// Auth checks credentials against the store.
type Auth struct {
	store gatelatch.Store
	name  string // of the person whose gateway this is
	files map[string]string

	mu     sync.Mutex
	codes  map[gatelatch.Sum]code // by the hash of the code
	used   map[string]use         // by key; reading must not write
	proofs map[string]time.Time   // nonce → when it may be forgotten

	guesses guesses
	watch   watch
}

// New returns an Auth for the person with that name.
func New(store gatelatch.Store, person string) *Auth {
	return &Auth{
		store: store, name: person, files: map[string]string{},
		codes: map[gatelatch.Sum]code{}, used: map[string]use{}, proofs: map[string]time.Time{},
	}
}

func hash(secret string) gatelatch.Sum { return gatelatch.SumOf([]byte(secret)) }

// A Request is what is known of a request before its body is read.
type Request struct {
	Method, Target string // GET, /v1/calls?state=pending
	Header         http.Header
	Cookies        []string // those that may be a browser's half of its session
	From           string   // the other end: an address, or a user of this machine
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
		k, err := a.bearer(ctx, bearer[0], r.From)
		return Shown{Key: k}, err
	case len(bearer) != 0 || len(page) != 1:
		return Shown{}, ErrNobody
	}
	p, ok := parseProof(page[0])
	if !ok {
		return Shown{}, ErrNobody
	}
	err := ErrNobody
	for _, c := range r.Cookies {
		var k *gatelatch.Key
		if k, err = a.browser(ctx, c, p, r); !errors.Is(err, ErrNobody) && !errors.Is(err, ErrGuessing) {
			return Shown{k, &p.body}, err
		}
	}
	return Shown{}, err
}

func (a *Auth) bearer(ctx context.Context, header, from string) (*gatelatch.Key, error) {
	secret, ok := strings.CutPrefix(header, "Bearer ")
	if !ok {
		return nil, ErrNobody
	}
	k, now, err := a.find(ctx, secret, from)
	if err != nil {
		return nil, err
	}
	if k.Kind != gatelatch.AskKey && k.Kind != gatelatch.DecideKey {
		return nil, ErrNobody
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.use(k, now)
	return k, nil
}

func (a *Auth) browser(ctx context.Context, cookie string, p proof, r Request) (*gatelatch.Key, error) {
	k, now, err := a.find(ctx, cookie, r.From)
	if err != nil {
		return nil, err
	}
	if k.Kind != gatelatch.BrowserKey || !p.fits(k.Second, r.Method, r.Target) {
		if !a.guesses.wrong(k.ID) { // somebody has the cookie alone
			return nil, ErrGuessing
		}
		return nil, ErrNobody
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.idle(k, now) || !a.fresh(p, now) {
		return nil, ErrNobody
	}
	a.use(k, now)
	return k, nil
}

// known returns a key that holds by itself, where the store knows it without
// reading: nobody else writes to it.
func (a *Auth) known(sum gatelatch.Sum) (*gatelatch.Key, time.Time, bool) {
	s, ok := a.store.(interface {
		KnownKey(sum gatelatch.Sum) (*gatelatch.Key, time.Time, bool)
	})
	if !ok {
		return nil, time.Time{}, false
	}
	k, now, ok := s.KnownKey(sum)
	return k, now, ok && k.Parent == "" && k.Kind != gatelatch.BrowserKey && k.Role() != "" && !over(k, now)
}

// find looks a secret up by its hash, so that the lookup's time tells nothing
// about the secret. What nobody knows counts as a guess.
func (a *Auth) find(ctx context.Context, secret, from string) (k *gatelatch.Key, now time.Time, err error) {
	sum := hash(secret)
	if !a.guesses.may(sum, from) {
		if err := a.learn(ctx); err != nil {
			return nil, now, err
		}
		if !a.guesses.may(sum, from) {
			return nil, now, ErrGuessing
		}
	}
	if k, now, ok := a.known(sum); ok {
		a.guesses.right(sum)
		return k, now, nil
	}
	err = a.store.View(ctx, func(r gatelatch.Reader) error {
		now = r.Now()
		if k, err = r.KeyByHash(sum); err != nil {
			return err
		}
		return holds(r, k)
	})
	switch {
	case errors.Is(err, gatelatch.ErrNotFound), errors.Is(err, ErrNobody):
		a.guesses.forget(sum)
		a.guesses.wrong(from)
		return nil, now, ErrNobody
	case err != nil:
		return nil, now, err
	}
	a.guesses.right(sum)
	return k, now, nil
}

// learn reads which secrets are right, now and then.
func (a *Auth) learn(ctx context.Context) error {
	if !a.guesses.learn() {
		return nil
	}
	ks, err := a.Keys(ctx, false)
	for _, k := range ks {
		a.guesses.right(k.Hash)
	}
	return err
}

// Check returns ErrNobody if a key that was shown before lets in no more: it
// was revoked or is over, or has another secret.
func (a *Auth) Check(ctx context.Context, shown *gatelatch.Key) error {
	return a.store.View(ctx, func(r gatelatch.Reader) error { return a.still(r, shown) })
}

// Lasts reports whether a key has not ended, be it idle or not.
func (a *Auth) Lasts(ctx context.Context, keyID string) bool {
	err := a.store.View(ctx, func(r gatelatch.Reader) error {
		k, err := r.Key(keyID)
		if err == nil {
			err = holds(r, k)
		}
		return err
	})
	return err == nil
}

func (a *Auth) still(r gatelatch.Reader, shown *gatelatch.Key) error {
	k, err := r.Key(shown.ID)
	switch {
	case errors.Is(err, gatelatch.ErrNotFound):
		return ErrNobody
	case err != nil:
		return err
	}
	if k.Hash != shown.Hash || k.Second != shown.Second {
		return ErrNobody
	}
	a.mu.Lock()
	idle := a.idle(k, r.Now())
	a.mu.Unlock()
	if idle {
		return ErrNobody
	}
	return holds(r, k)
}

// holds returns ErrNobody for a key that ended: revoked or expired, itself or
// who let it in, or by a secret that was rotated, or a browser's that is too old.
func holds(r gatelatch.Reader, k *gatelatch.Key) error {
	now := r.Now()
	if over(k, now) || k.Role() == "" || k.Kind == gatelatch.BrowserKey && now.Sub(k.Created) >= BrowserLife {
		return ErrNobody
	}
	for range maxParents {
		if k.Parent == "" {
			return nil
		}
		parent, err := r.Key(k.Parent)
		switch {
		case errors.Is(err, gatelatch.ErrNotFound), err == nil && (over(parent, now) || !k.Created.After(parent.Rotated)):
			return ErrNobody
		case err != nil:
			return err
		}
		k = parent
	}
	return ErrNobody
}

func over(k *gatelatch.Key, now time.Time) bool {
	return !k.Revoked.IsZero() || !k.Expires.IsZero() && !now.Before(k.Expires)
}
