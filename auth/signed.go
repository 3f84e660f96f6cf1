package auth

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/api"
	"github.com/gatelatch/gatelatch/internal/passkey"
	"github.com/gatelatch/gatelatch/internal/strictjson"
)

// signedAge is how far the page's clock may be from ours.
const signedAge = time.Minute

// Signing is a request that a passkey may have signed.
type Signing struct {
	Method, Target string
	Says           string // what the body comes to; see api.Says
	Body           []byte
	Origin         string // of the page; a door without pages has none
	Note           bool   // the trail gets the signature now: nothing else will hold it
	Header         http.Header
}

// stamp is the header that carries a signature, all but the time in base64url:
//
//	v1.<milliseconds>.<credential>.<authenticatorData>.<clientDataJSON>.<signature>
type stamp struct {
	at         time.Time
	credential []byte
	passkey.Assertion
}

func parseStamp(header string) (s stamp, ok bool) {
	f := strings.Split(header, ".")
	const parts = 6
	if len(f) != parts || f[0] != "v1" {
		return s, false
	}
	ms, err := strconv.ParseInt(f[1], 10, 64)
	s.at = time.UnixMilli(ms)
	for i, to := range []*[]byte{&s.credential, &s.Data, &s.Client, &s.Sig} {
		raw, e := base64.RawURLEncoding.Strict().DecodeString(f[2+i])
		*to, err = raw, errors.Join(err, e)
	}
	return s, err == nil
}

// Stamp makes the header value, as the page does.
func Stamp(at time.Time, credential []byte, a passkey.Assertion) string {
	f := []string{"v1", strconv.FormatInt(at.UnixMilli(), 10)}
	for _, raw := range [][]byte{credential, a.Data, a.Client, a.Sig} {
		f = append(f, base64.RawURLEncoding.EncodeToString(raw))
	}
	return strings.Join(f, ".")
}

// Signed returns the signature that a request of by carries, nil if it has none.
// It is used up: no passkey's word counts twice, at no gateway of the store.
func (a *Auth) Signed(ctx context.Context, r Signing, by *gatelatch.Key) (*gatelatch.Signature, error) {
	headers := r.Header.Values(api.SignedHeader)
	if len(headers) == 0 {
		return nil, nil //nolint:nilnil // it is no fault to have none; who needs one says so
	}
	s, ok := parseStamp(headers[0])
	if !ok || len(headers) > 1 {
		return nil, unfit("it can't be read")
	}
	text := passkey.Request{At: s.at, Method: r.Method, Target: r.Target, Says: r.Says, Body: sha256.Sum256(r.Body)}.Text()
	out := &gatelatch.Signature{Text: text, Data: s.Data, Client: s.Client, Sig: s.Sig}
	var count uint32
	// Who guesses must not keep the writer busy.
	err := a.store.View(ctx, func(v gatelatch.Reader) error {
		k, err := signer(v, s, by)
		if err != nil {
			return err
		}
		if r.Origin == "" {
			return unfit("it was signed on another page")
		}
		if count, err = passkey.Verify(k.Passkey.Public, k.Passkey.RP, r.Origin, text, s.Assertion); err != nil {
			return unfit(err.Error())
		}
		out.Passkey = k.ID
		return nil
	})
	if err != nil {
		return nil, err
	}
	err = a.store.Update(ctx, func(tx gatelatch.Tx) error {
		k, err := signer(tx, s, by)
		if err != nil {
			return err
		}
		if err := spend(k, s, count, tx.Now()); err != nil {
			return err
		}
		if err := tx.SaveKey(k); err != nil || !r.Note {
			return err
		}
		return note(tx, out, by)
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// signer is the passkey that a stamp names, if it may sign for by now.
func signer(r gatelatch.Reader, s stamp, by *gatelatch.Key) (*gatelatch.Key, error) {
	now := r.Now()
	if age := now.Sub(s.at); age > signedAge || age < -signedAge {
		return nil, unfit("it is too old, or this device's clock is wrong")
	}
	k, err := r.KeyByHash(credentialHash(s.credential))
	if errors.Is(err, gatelatch.ErrNotFound) || err == nil && (k.Kind != gatelatch.PasskeyKey || over(k, now)) {
		return nil, unfit("nobody knows this passkey here")
	}
	if err != nil {
		return nil, err
	}
	owner, err := root(r, by)
	if err == nil && owner != k.Parent {
		err = unfit("it is another person's")
	}
	return k, err
}

func note(tx gatelatch.Tx, s *gatelatch.Signature, by *gatelatch.Key) error {
	body, err := strictjson.Marshal(struct {
		Signed *gatelatch.Signature `json:"signed"`
	}{s})
	if err != nil {
		return err
	}
	return tx.Record(gatelatch.Event{Kind: gatelatch.RequestSigned, By: by.Actor(), At: tx.Now(), Body: body})
}

// spend notes a signature, so that neither it nor one of a copied device counts.
func spend(k *gatelatch.Key, s stamp, count uint32, now time.Time) error {
	p, sum := *k.Passkey, gatelatch.SumOf(s.Sig) // what was read may be shared
	p.Spent = slices.DeleteFunc(slices.Clone(p.Spent), func(o gatelatch.Spent) bool { return now.Sub(o.At) > 2*signedAge })
	if slices.ContainsFunc(p.Spent, func(o gatelatch.Spent) bool { return o.Sum == sum }) {
		return unfit("it was used before")
	}
	if (count != 0 || p.Count != 0) && count <= p.Count {
		return unfit("its counter did not go on, as if somebody had copied it")
	}
	p.Spent, p.Count, k.Used = append(p.Spent, gatelatch.Spent{Sum: sum, At: s.at}), count, now
	k.Passkey = &p
	return nil
}

func unfit(why string) error { return fmt.Errorf("%w: %s", gatelatch.ErrSignature, why) }
