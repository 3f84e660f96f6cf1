package auth

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"
	"time"

	"github.com/gatelatch/gatelatch"
)

// Limits of a proof.
const (
	proofAge  = 2 * time.Minute // between the page's clock and ours
	maxProofs = 100_000         // remembered, so that none works twice
)

// A proof shows that a page has its half of the session without showing the
// half: whoever takes the gateway's port while it is down learns nothing that
// works later. It is about one request, once.
//
//	v1.<milliseconds>.<nonce>.<hash of the body>.<HMAC over all of it>
type proof struct {
	at    time.Time
	nonce string
	body  gatelatch.Sum
	text  string // what is signed, but for method and target
	mac   []byte
}

func parseProof(header string) (p proof, ok bool) {
	f := strings.Split(header, ".")
	if len(f) != 5 || f[0] != "v1" || len(f[2]) < 16 || len(f[2]) > 64 {
		return p, false
	}
	ms, err := strconv.ParseInt(f[1], 10, 64)
	if err != nil || p.body.UnmarshalText([]byte(f[3])) != nil {
		return p, false
	}
	if p.mac, err = hex.DecodeString(f[4]); err != nil {
		return p, false
	}
	p.at, p.nonce, p.text = time.UnixMilli(ms), f[2], strings.Join(f[:4], ".")
	return p, true
}

// fits reports whether the proof is by that half and about that request.
func (p proof) fits(half gatelatch.Sum, method, target string) bool {
	return hmac.Equal(p.mac, sign(half, method, target, p.text))
}

// sign uses the hash of the page's half as the key: it is all that is kept.
func sign(half gatelatch.Sum, method, target, text string) []byte {
	m := hmac.New(sha256.New, half[:])
	m.Write([]byte("gatelatch.page.v1\n" + method + "\n" + target + "\n" + text))
	return m.Sum(nil)
}

// Prove makes the header value for one request, as the page does.
func Prove(page, method, target string, body []byte, nonce string, at time.Time) string {
	text := "v1." + strconv.FormatInt(at.UnixMilli(), 10) + "." + nonce + "." + gatelatch.SumOf(body).String()
	return text + "." + hex.EncodeToString(sign(hash(page), method, target, text))
}

// fresh uses a proof up. The caller holds mu.
func (a *Auth) fresh(p proof, now time.Time) bool {
	if age := now.Sub(p.at); age > proofAge || age < -proofAge {
		return false
	}
	if len(a.proofs) >= maxProofs/2 {
		for nonce, ends := range a.proofs {
			if now.After(ends) {
				delete(a.proofs, nonce)
			}
		}
	}
	if _, used := a.proofs[p.nonce]; used || len(a.proofs) >= maxProofs {
		return false
	}
	a.proofs[p.nonce] = p.at.Add(proofAge)
	return true
}
