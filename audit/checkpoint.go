package audit

import (
	"bufio"
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/gatelatch/gatelatch"
)

// A Checkpoint is a signed word that the trail had this event at its end. Kept
// where the owner of the trail can't change it, it shows what a chain alone
// can't: that the end was cut off, or everything was written anew.
type Checkpoint struct {
	Seq  gatelatch.Seq `json:"seq"`
	Link gatelatch.Sum `json:"link"`
	At   time.Time     `json:"at"`
	Key  PublicKey     `json:"key"`
	Sig  []byte        `json:"sig"`
}

// String names the checkpoint for people.
func (c Checkpoint) String() string {
	return fmt.Sprintf("the checkpoint of %s", c.At.UTC().Format(time.RFC3339))
}

func (c Checkpoint) signed() []byte {
	s := gatelatch.SumFields("gatelatch.checkpoint.v1", number(int64(c.Seq)), c.Link[:], number(c.At.UnixMicro()), c.Key[:])
	return s[:]
}

// Genuine reports whether the key that c names has signed it.
func (c Checkpoint) Genuine() bool { return ed25519.Verify(c.Key[:], c.signed(), c.Sig) }

// AppendLine appends c as a line of a checkpoint file.
func (c Checkpoint) AppendLine(dst []byte) ([]byte, error) {
	raw, err := json.Marshal(c)
	return append(append(dst, raw...), '\n'), err
}

// A PublicKey checks checkpoints. It is written as hex.
type PublicKey [ed25519.PublicKeySize]byte

// String returns the key in hex.
func (k PublicKey) String() string { return hex.EncodeToString(k[:]) }

// MarshalText implements encoding.TextMarshaler.
func (k PublicKey) MarshalText() ([]byte, error) { return hex.AppendEncode(nil, k[:]), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (k *PublicKey) UnmarshalText(b []byte) error {
	if n, err := hex.Decode(k[:], b[:min(len(b), 2*len(k))]); err != nil || n != len(k) || len(b) != 2*len(k) {
		return fmt.Errorf("a public key is %d hex digits", 2*len(k))
	}
	return nil
}

// ParsePublicKey reads a public key, or finds that of a secret one.
func ParsePublicKey(text string) (k PublicKey, err error) {
	text = strings.TrimSpace(text)
	if strings.HasPrefix(text, secretPrefix) {
		s, err := ParseSigner(text)
		if err != nil {
			return k, err
		}
		return s.Public(), nil
	}
	err = k.UnmarshalText([]byte(text))
	return k, err
}

// secretPrefix tells a secret key from a public one.
const secretPrefix = "gkc_"

// NewSecret makes a key for signing checkpoints.
func NewSecret() string {
	seed := make([]byte, ed25519.SeedSize)
	_, _ = rand.Read(seed) // never fails: it crashes the program instead
	return secretPrefix + hex.EncodeToString(seed)
}

// A Signer signs checkpoints.
type Signer struct{ key ed25519.PrivateKey }

// ParseSigner reads what NewSecret made.
func ParseSigner(secret string) (*Signer, error) {
	text, ok := strings.CutPrefix(strings.TrimSpace(secret), secretPrefix)
	seed, err := hex.DecodeString(text)
	if !ok || err != nil || len(seed) != ed25519.SeedSize {
		return nil, errors.New("this is not a key for checkpoints (" + secretPrefix + "…)") // never the text: it may be a secret
	}
	return &Signer{ed25519.NewKeyFromSeed(seed)}, nil
}

// Public returns the key that checks what s signs.
func (s *Signer) Public() PublicKey {
	return PublicKey(s.key[ed25519.PrivateKeySize-ed25519.PublicKeySize:])
}

// Sign returns the checkpoint of an event.
func (s *Signer) Sign(seq gatelatch.Seq, link gatelatch.Sum, at time.Time) Checkpoint {
	c := Checkpoint{Seq: seq, Link: link, At: at.UTC().Truncate(time.Microsecond), Key: s.Public()}
	c.Sig = ed25519.Sign(s.key, c.signed())
	return c
}

// ReadCheckpoints reads a checkpoint file. Each must be signed by one of the
// trusted keys; without any, by the key that it names itself.
func ReadCheckpoints(r io.Reader, trusted ...PublicKey) (out []Checkpoint, err error) {
	keys := map[PublicKey]bool{}
	for _, k := range trusted {
		keys[k] = true
	}
	sc := bufio.NewScanner(r)
	for n := 1; sc.Scan(); n++ {
		line := sc.Bytes()
		// A write that a crash or a full disk cut short has no end.
		if !bytes.HasSuffix(line, []byte("}")) {
			continue
		}
		c, err := parseCheckpoint(line)
		switch {
		case err != nil:
			return out, fmt.Errorf("line %d: %w", n, err)
		case len(keys) > 0 && !keys[c.Key]:
			return out, fmt.Errorf("line %d: %s is signed by another key, %s", n, c, c.Key)
		case !c.Genuine():
			return out, fmt.Errorf("line %d: the signature of %s is false", n, c)
		}
		out = append(out, c)
	}
	return out, sc.Err()
}

func parseCheckpoint(line []byte) (c Checkpoint, err error) {
	dec := json.NewDecoder(bytes.NewReader(line))
	dec.DisallowUnknownFields()
	if err = dec.Decode(&c); err != nil || dec.InputOffset() != int64(len(line)) || c.Seq < 1 {
		return c, errors.New("this is not a checkpoint")
	}
	return c, nil
}
