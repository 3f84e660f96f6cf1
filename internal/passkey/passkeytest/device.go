// Package passkeytest is a passkey in software, for tests.
package passkeytest

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"testing"

	"github.com/gatelatch/gatelatch/internal/passkey"
)

// Device holds one passkey. What it says can be bent before it signs.
type Device struct {
	Credential []byte
	Public     []byte // SPKI, as browsers give it
	RP         string
	Type       string
	Flags      byte
	Count      uint32 // goes up with each signature, if it is not 0
	Cross      bool
	key        crypto.Signer
}

// New returns an ES256 device for a domain.
func New(t testing.TB, rp string) *Device {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	return with(t, rp, key, err)
}

// NewEdDSA returns one with an Ed25519 key.
func NewEdDSA(t testing.TB, rp string) *Device {
	t.Helper()
	_, key, err := ed25519.GenerateKey(rand.Reader)
	return with(t, rp, key, err)
}

// NewRS256 returns a device with an RSA key of that size.
func NewRS256(t testing.TB, rp string, bits int) *Device {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, bits)
	return with(t, rp, key, err)
}

func with(t testing.TB, rp string, key crypto.Signer, err error) *Device {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	public, err := x509.MarshalPKIXPublicKey(key.Public())
	if err != nil {
		t.Fatal(err)
	}
	d := &Device{Credential: make([]byte, 16), Public: public, RP: rp, Type: "webauthn.get", Flags: 1, key: key}
	_, _ = rand.Read(d.Credential)
	return d
}

// Sign signs a text on a page of origin.
func (d *Device) Sign(t testing.TB, origin, text string) passkey.Assertion {
	t.Helper()
	sum, rp := sha256.Sum256([]byte(text)), sha256.Sum256([]byte(d.RP))
	client, err := json.Marshal(map[string]any{
		"type": d.Type, "challenge": base64.RawURLEncoding.EncodeToString(sum[:]), "origin": origin, "crossOrigin": d.Cross, "more": "to come",
	})
	if err != nil {
		t.Fatal(err)
	}
	if d.Count > 0 {
		d.Count++
	}
	a := passkey.Assertion{Client: client, Data: binary.BigEndian.AppendUint32(append(rp[:], d.Flags), d.Count)}
	clientSum := sha256.Sum256(client)
	message := append(append([]byte{}, a.Data...), clientSum[:]...)
	var hash crypto.Hash
	if _, whole := d.key.(ed25519.PrivateKey); !whole {
		sum, hash = sha256.Sum256(message), crypto.SHA256
		message = sum[:]
	}
	if a.Sig, err = d.key.Sign(rand.Reader, message, hash); err != nil {
		t.Fatal(err)
	}
	return a
}
