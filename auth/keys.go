package auth

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/internal/id"
	"github.com/gatelatch/gatelatch/internal/statedir"
	"github.com/gatelatch/gatelatch/internal/strictjson"
)

const maxName = 64

// Add makes a key of that name and role. Its secret is returned once, and only
// a hash of it kept.
func (a *Auth) Add(ctx context.Context, name string, role gatelatch.Role, expires time.Time, by gatelatch.Actor) (secret string, k *gatelatch.Key, err error) {
	if err := checkName(name); err != nil {
		return "", nil, err
	}
	kind, prefix := gatelatch.DecideKey, decidePrefix
	if role == gatelatch.AgentRole {
		kind, prefix = gatelatch.AskKey, askPrefix
	}
	if role == "" {
		return "", nil, fmt.Errorf("a key needs a role: %w", gatelatch.ErrInvalid)
	}
	secret = id.Secret(prefix)
	k = &gatelatch.Key{ID: id.New("key"), Kind: kind, Given: role, Name: name, Hash: hash(secret), Expires: expires}
	err = a.store.Update(ctx, func(tx gatelatch.Tx) error {
		k.Created = tx.Now()
		return create(tx, k, by)
	})
	if err != nil {
		return "", nil, err
	}
	a.guesses.right(k.Hash)
	return secret, k, nil
}

func checkName(name string) error {
	hidden := func(r rune) bool { return !unicode.IsPrint(r) }
	if strings.TrimSpace(name) == "" || !utf8.ValidString(name) || len(name) > maxName || strings.ContainsFunc(name, hidden) {
		return fmt.Errorf("a key's name has 1 to %d bytes, all of them to be seen: %w", maxName, gatelatch.ErrInvalid)
	}
	return nil
}

func create(tx gatelatch.Tx, k *gatelatch.Key, by gatelatch.Actor) error {
	if err := k.Check(); err != nil {
		return err
	}
	if err := tx.SaveKey(k); err != nil {
		return err
	}
	return record(tx, gatelatch.KeyCreated, k, by)
}

func record(tx gatelatch.Tx, kind gatelatch.EventKind, k *gatelatch.Key, by gatelatch.Actor) error {
	return recordSigned(tx, kind, k, by, nil)
}

// recordSigned also writes down who signed for it, and what a passkey's later
// signatures are checked by.
func recordSigned(tx gatelatch.Tx, kind gatelatch.EventKind, k *gatelatch.Key, by gatelatch.Actor, signed *gatelatch.Signature) error {
	var enrolled *gatelatch.Passkey
	if kind == gatelatch.KeyCreated {
		enrolled = k.Passkey
	}
	body, err := strictjson.Marshal(struct {
		Key     string               `json:"key"`
		Kind    gatelatch.KeyKind    `json:"kind"`
		Role    gatelatch.Role       `json:"role"`
		Name    string               `json:"name"`
		Passkey *gatelatch.Passkey   `json:"passkey,omitempty"`
		Signed  *gatelatch.Signature `json:"signed,omitempty"`
	}{k.ID, k.Kind, k.Role(), k.Name, enrolled, signed})
	if err != nil {
		return err
	}
	return tx.Record(gatelatch.Event{Kind: kind, By: by, At: tx.Now(), Body: body})
}

// Revoke ends a key at once, with the browsers that it let in.
func (a *Auth) Revoke(ctx context.Context, keyID string, by gatelatch.Actor) (k *gatelatch.Key, err error) {
	err = a.store.Update(ctx, func(tx gatelatch.Tx) error {
		if k, err = tx.Key(keyID); err != nil || !k.Revoked.IsZero() {
			return err
		}
		if k.Kind == gatelatch.PasskeyKey {
			return fmt.Errorf("this is a passkey, which is removed: %w", gatelatch.ErrInvalid)
		}
		if path := a.files[k.ID]; path != "" {
			return fmt.Errorf("the key in %s would be made anew at the next start; rotate it instead: %w", path, gatelatch.ErrInvalid)
		}
		k.Revoked = tx.Now()
		if err := tx.SaveKey(k); err != nil {
			return err
		}
		return record(tx, gatelatch.KeyRevoked, k, by)
	})
	return k, err
}

// Rotate gives a key another secret and ends the one it had, with the browsers
// that it let in. It stays the same principal: what it asked and was granted is
// still its own. The file of a key that lies in one is written first; a crash
// then leaves both in force.
func (a *Auth) Rotate(ctx context.Context, keyID string, by gatelatch.Actor) (secret string, k *gatelatch.Key, err error) {
	prefix := map[gatelatch.KeyKind]string{gatelatch.AskKey: askPrefix, gatelatch.DecideKey: decidePrefix}
	old := ""
	err = a.store.Update(ctx, func(tx gatelatch.Tx) error {
		if k, err = tx.Key(keyID); err != nil {
			return err
		}
		if prefix[k.Kind] == "" || over(k, tx.Now()) {
			return fmt.Errorf("only a key that is in force and no browser's gets another secret: %w", gatelatch.ErrInvalid)
		}
		if secret == "" {
			secret = id.Secret(prefix[k.Kind])
			if old, err = a.replaceFile(k.ID, secret); err != nil {
				return err
			}
		}
		k.Hash, k.Rotated = hash(secret), tx.Now()
		if err := tx.SaveKey(k); err != nil {
			return err
		}
		return record(tx, gatelatch.KeyRotated, k, by)
	})
	if err != nil {
		if old != "" {
			_, back := a.replaceFile(keyID, old)
			err = errors.Join(err, back)
		}
		return "", nil, err
	}
	a.guesses.right(k.Hash)
	return secret, k, nil
}

// replaceFile puts another secret into the file of a key, if it lies in one,
// and returns the one before.
func (a *Auth) replaceFile(keyID, secret string) (old string, err error) {
	path := a.files[keyID]
	if path == "" {
		return "", nil
	}
	if old, err = statedir.ReadKey(path); err == nil {
		err = statedir.ReplaceKey(path, secret)
	}
	return old, err
}

// Keys lists all keys that did not end, or all, with when each was last used.
func (a *Auth) Keys(ctx context.Context, ended bool) (out []*gatelatch.Key, err error) {
	err = a.store.View(ctx, func(r gatelatch.Reader) error {
		out = nil
		for after := ""; ; {
			page, err := r.Keys(after, 0)
			if err != nil || len(page) == 0 {
				return err
			}
			for _, k := range page {
				if after = k.ID; k.Kind != gatelatch.PasskeyKey && (ended || a.lives(r, k)) {
					out = append(out, k)
				}
			}
		}
	})
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, k := range out {
		k.Used = a.lastUse(k)
	}
	return out, err
}

func (a *Auth) lives(r gatelatch.Reader, k *gatelatch.Key) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return !a.idle(k, r.Now()) && holds(r, k) == nil
}

// File is where the secret of a key lies in the state directory, "" if nowhere.
func (a *Auth) File(keyID string) string { return a.files[keyID] }
