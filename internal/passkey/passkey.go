// Package passkey checks what a person's passkey has signed (WebAuthn), with
// nothing but the standard library: an auditor needs no gateway for it.
package passkey

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/subtle"
	"crypto/x509"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// domain begins every text that is signed, so that nothing else ever is one.
const domain = "gatelatch.sign.v1"

// Request is what a signature is about: one request of a page.
type Request struct {
	At             time.Time // by the page's clock, to the millisecond
	Method, Target string
	Says           string   // what the body comes to, in words an auditor can compare
	Body           [32]byte // its SHA-256
}

// Text is exactly what is signed.
func (r Request) Text() string {
	return strings.Join([]string{domain, strconv.FormatInt(r.At.UnixMilli(), 10), r.Method, r.Target, r.Says, hex.EncodeToString(r.Body[:])}, "\n")
}

// ParseText reads what Text has written. Only one text comes from a request.
func ParseText(text string) (r Request, err error) {
	f := strings.Split(text, "\n")
	const parts = 6
	if len(f) != parts {
		return r, errors.New("what was signed is no request")
	}
	ms, err := strconv.ParseInt(f[1], 10, 64)
	sum, wrong := hex.DecodeString(f[5])
	if err != nil || wrong != nil || len(sum) != len(r.Body) {
		return r, errors.New("what was signed is no request")
	}
	r = Request{At: time.UnixMilli(ms), Method: f[2], Target: f[3], Says: f[4], Body: [32]byte(sum)}
	if r.Text() != text {
		return r, errors.New("what was signed is no request")
	}
	return r, nil
}

// Assertion is what an authenticator and the browser say about a text.
type Assertion struct {
	Data   []byte // authenticatorData
	Client []byte // clientDataJSON
	Sig    []byte
}

// Flags and places in authenticatorData.
const (
	rpSize   = 32
	dataSize = rpSize + 1 + 4
	present  = 1 << 0
)

// Verify checks that the passkey with this public key, which was made for the
// domain rp, has signed the text on a page of origin while its person was
// there. It returns the sign counter. Without an origin any page of rp counts.
func Verify(public []byte, rp, origin, text string, a Assertion) (count uint32, err error) {
	key, err := ParsePublic(public)
	if err != nil {
		return 0, err
	}
	if err := checkClient(a.Client, rp, origin, text); err != nil {
		return 0, err
	}
	if len(a.Data) < dataSize {
		return 0, errors.New("the authenticator's data is cut short")
	}
	want := sha256.Sum256([]byte(rp))
	switch {
	case subtle.ConstantTimeCompare(a.Data[:rpSize], want[:]) != 1:
		return 0, errors.New("it was signed for another domain")
	case a.Data[rpSize]&present == 0:
		return 0, errors.New("nobody was there when it was signed")
	}
	client := sha256.Sum256(a.Client)
	if !signed(key, append(append([]byte{}, a.Data...), client[:]...), a.Sig) {
		return 0, errors.New("the signature is not this passkey's")
	}
	return binary.BigEndian.Uint32(a.Data[rpSize+1:]), nil
}

func checkClient(raw []byte, rp, origin, text string) error {
	var c struct {
		Type      string `json:"type"`
		Challenge string `json:"challenge"`
		Origin    string `json:"origin"`
		Cross     bool   `json:"crossOrigin"`
	}
	if err := json.Unmarshal(raw, &c); err != nil {
		return errors.New("the browser's data can't be read")
	}
	sum := sha256.Sum256([]byte(text))
	at, err := url.Parse(c.Origin)
	switch {
	case c.Type != "webauthn.get":
		return errors.New("it is no signature of a passkey in use")
	case c.Challenge != base64.RawURLEncoding.EncodeToString(sum[:]):
		return errors.New("something else was signed")
	case c.Cross, err != nil, origin != "" && c.Origin != origin, at.Hostname() != rp:
		return errors.New("it was signed on another page")
	}
	return nil
}

// Sizes of what is taken.
const (
	maxPublic = 1 << 10
	minRSA    = 2048
	maxRSA    = 4096
)

// ParsePublic reads a public key as browsers give it (SPKI): ES256, EdDSA or
// RS256.
func ParsePublic(spki []byte) (crypto.PublicKey, error) {
	if len(spki) > maxPublic {
		return nil, errors.New("the public key is too long")
	}
	key, err := x509.ParsePKIXPublicKey(spki)
	if err != nil {
		return nil, errors.New("the public key can't be read")
	}
	switch k := key.(type) {
	case *ecdsa.PublicKey:
		if k.Curve == elliptic.P256() {
			return k, nil
		}
	case ed25519.PublicKey:
		return k, nil
	case *rsa.PublicKey:
		if n := k.N.BitLen(); n >= minRSA && n <= maxRSA {
			return k, nil
		}
	}
	return nil, errors.New("the public key is none of ES256, EdDSA and RS256")
}

func signed(key crypto.PublicKey, data, sig []byte) bool {
	sum := sha256.Sum256(data)
	switch k := key.(type) {
	case *ecdsa.PublicKey:
		return ecdsa.VerifyASN1(k, sum[:], sig)
	case ed25519.PublicKey:
		return ed25519.Verify(k, data, sig)
	case *rsa.PublicKey:
		return rsa.VerifyPKCS1v15(k, crypto.SHA256, sum[:], sig) == nil
	}
	return false
}
