package auth

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"time"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/internal/id"
	"github.com/gatelatch/gatelatch/internal/passkey"
)

// Limits of passkeys.
const (
	enrolTime     = 10 * time.Minute // from the login link to a passkey that no other signs for
	maxPasskeys   = 20               // of one person
	maxCredential = 1023
)

// Enrolment is a passkey that a browser has made.
type Enrolment struct {
	Name               string
	Credential, Public []byte
	RP                 string // the domain of the page
}

func (e Enrolment) check() error {
	if err := checkName(e.Name); err != nil {
		return err
	}
	_, err := passkey.ParsePublic(e.Public)
	switch {
	case len(e.Credential) == 0 || len(e.Credential) > maxCredential:
		err = errors.New("the credential has no id")
	case e.RP == "" || net.ParseIP(e.RP) != nil:
		err = errors.New(`passkeys need a name instead of an address: open the page by the link of "gatelatch open"`)
	}
	if err != nil {
		return fmt.Errorf("%w: %w", gatelatch.ErrInvalid, err)
	}
	return nil
}

// AddPasskey enrols a passkey of who is logged in. One of theirs that is known
// signs for it; the first at a domain is taken from a browser that just logged
// in there by a link from the approver's socket, which no stolen session is.
func (a *Auth) AddPasskey(ctx context.Context, e Enrolment, by *gatelatch.Key, signed *gatelatch.Signature) (k *gatelatch.Key, err error) {
	if err := e.check(); err != nil {
		return nil, err
	}
	keyID := id.New("key")
	err = a.store.Update(ctx, func(tx gatelatch.Tx) error {
		owner, err := root(tx, by)
		if err != nil {
			return err
		}
		have, err := passkeys(tx, owner)
		if err != nil {
			return err
		}
		here := slices.ContainsFunc(have, func(k *gatelatch.Key) bool { return k.Passkey.RP == e.RP })
		fresh := by.Kind == gatelatch.BrowserKey && by.Near == e.RP && tx.Now().Sub(by.Created) <= enrolTime
		switch {
		case len(have) >= maxPasskeys:
			return fmt.Errorf("%d passkeys are enough; remove one first: %w", maxPasskeys, gatelatch.ErrInvalid)
		case signed == nil && here:
			return gatelatch.ErrUnsigned
		case signed == nil && !fresh:
			return fmt.Errorf(`the first passkey is added right after "gatelatch open" on the gateway's machine, within %d minutes: %w`,
				int(enrolTime.Minutes()), gatelatch.ErrForbidden)
		}
		k = &gatelatch.Key{
			ID: keyID, Kind: gatelatch.PasskeyKey, Name: e.Name, Parent: owner, Hash: credentialHash(e.Credential), Created: tx.Now(),
			Passkey: &gatelatch.Passkey{Credential: e.Credential, Public: e.Public, RP: e.RP},
		}
		switch _, err := tx.KeyByHash(k.Hash); {
		case err == nil:
			return fmt.Errorf("this passkey is known already: %w", gatelatch.ErrConflict)
		case !errors.Is(err, gatelatch.ErrNotFound):
			return err
		}
		if err := errors.Join(k.Check(), tx.SaveKey(k)); err != nil {
			return err
		}
		return recordSigned(tx, gatelatch.KeyCreated, k, by.Actor(), signed)
	})
	return k, err
}

// RemovePasskey ends a passkey: without a signature only from the gateway's own
// machine, or a stolen session could begin anew with one of its own.
func (a *Auth) RemovePasskey(ctx context.Context, keyID string, by *gatelatch.Key, near bool, signed *gatelatch.Signature) (k *gatelatch.Key, err error) {
	err = a.store.Update(ctx, func(tx gatelatch.Tx) error {
		owner, err := root(tx, by)
		if err != nil {
			return err
		}
		k, err = tx.Key(keyID)
		switch {
		case err != nil:
			return err
		case k.Kind != gatelatch.PasskeyKey:
			return gatelatch.ErrNotFound
		case k.Parent != owner && by.Role() != gatelatch.AdminRole:
			return gatelatch.ErrForbidden
		case !k.Revoked.IsZero():
			return nil
		case signed == nil && !near:
			return gatelatch.ErrUnsigned
		}
		k.Revoked = tx.Now()
		if err := tx.SaveKey(k); err != nil {
			return err
		}
		return recordSigned(tx, gatelatch.KeyRevoked, k, by.Actor(), signed)
	})
	return k, err
}

// Passkeys lists those in force: all, or those of the person that a key is of.
func (a *Auth) Passkeys(ctx context.Context, of *gatelatch.Key) (out []*gatelatch.Key, err error) {
	err = a.store.View(ctx, func(r gatelatch.Reader) error {
		owner := ""
		if of != nil {
			if owner, err = root(r, of); err != nil {
				return err
			}
		}
		out, err = passkeys(r, owner)
		return err
	})
	return out, err
}

func passkeys(r gatelatch.Reader, owner string) (out []*gatelatch.Key, err error) {
	for after := ""; ; {
		page, err := r.Keys(after, 0)
		if err != nil || len(page) == 0 {
			return out, err
		}
		for _, k := range page {
			after = k.ID
			if k.Kind == gatelatch.PasskeyKey && k.Passkey != nil && !over(k, r.Now()) && (owner == "" || k.Parent == owner) {
				out = append(out, k)
			}
		}
	}
}

// root is the key of the command line that a browser is logged in by: the
// person, to whom their passkeys belong.
func root(r gatelatch.Reader, k *gatelatch.Key) (string, error) {
	for range maxParents {
		if k.Parent == "" {
			return k.ID, nil
		}
		var err error
		if k, err = r.Key(k.Parent); err != nil {
			return "", err
		}
	}
	return "", ErrNobody
}

// credentialHash is how a passkey is found. No secret has such a hash.
func credentialHash(credential []byte) gatelatch.Sum {
	return gatelatch.SumFields("gatelatch.passkey.v1", credential)
}
