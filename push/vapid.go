package push

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"net/url"
	"time"
)

// signedFor is how long a signature counts; a day is the most.
const signedFor = 12 * time.Hour

// contact is whom a push service may turn to about this sender.
const contact = "https://github.com/gatelatch/gatelatch"

// authorization is the header that says who sends, for the service of endpoint.
func authorization(key *ecdsa.PrivateKey, endpoint *url.URL, now time.Time) (string, error) {
	claims, err := json.Marshal(map[string]any{
		"aud": endpoint.Scheme + "://" + endpoint.Host, "exp": now.Add(signedFor).Unix(), "sub": contact,
	})
	if err != nil {
		return "", err
	}
	text := b64.EncodeToString([]byte(`{"typ":"JWT","alg":"ES256"}`)) + "." + b64.EncodeToString(claims)
	sum := sha256.Sum256([]byte(text))
	r, s, err := ecdsa.Sign(rand.Reader, key, sum[:])
	if err != nil {
		return "", err
	}
	sig := make([]byte, 64)
	r.FillBytes(sig[:32])
	s.FillBytes(sig[32:])
	pub, err := key.PublicKey.Bytes()
	if err != nil {
		return "", err
	}
	return "vapid t=" + text + "." + b64.EncodeToString(sig) + ", k=" + b64.EncodeToString(pub), nil
}

func newKey() (*ecdsa.PrivateKey, error) { return ecdsa.GenerateKey(elliptic.P256(), rand.Reader) }
