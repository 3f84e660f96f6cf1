// Package push sends messages to browsers whose page is closed: encrypted for
// the browser (RFC 8291), signed so that its push service knows the sender
// (RFC 8292), and delivered by that service (RFC 8030).
package push

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/ecdh"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
)

var b64 = base64.RawURLEncoding

// maxPlain is the longest message. A service takes 4096 bytes of body.
const maxPlain = 3000

// recordSize is written before the one record that a message has.
const recordSize = 4096

// encrypt makes the body for a browser with public key ua and secret auth. A
// body needs a key pair and a salt of its own.
func encrypt(plain, ua, auth []byte) ([]byte, error) {
	own, err := ecdh.P256().GenerateKey(rand.Reader)
	if err != nil {
		return nil, err
	}
	salt := make([]byte, 16)
	_, _ = rand.Read(salt) // never fails
	return seal(plain, ua, auth, own, salt)
}

func seal(plain, ua, auth []byte, own *ecdh.PrivateKey, salt []byte) ([]byte, error) {
	if len(plain) > maxPlain {
		return nil, errors.New("the message is too long")
	}
	to, err := ecdh.P256().NewPublicKey(ua)
	if err != nil {
		return nil, err
	}
	shared, err := own.ECDH(to)
	if err != nil {
		return nil, err
	}
	from := own.PublicKey().Bytes()
	ikm, err := hkdf.Key(sha256.New, shared, auth, "WebPush: info\x00"+string(ua)+string(from), 32)
	if err != nil {
		return nil, err
	}
	gcm, nonce, err := recordKey(ikm, salt)
	if err != nil {
		return nil, err
	}
	body := append(make([]byte, 0, 86+len(plain)+17), salt...)
	body = binary.BigEndian.AppendUint32(body, recordSize)
	body = append(append(body, byte(len(from))), from...)
	return gcm.Seal(body, nonce, append(plain[:len(plain):len(plain)], 2), nil), nil // 2 ends the last record
}

func recordKey(ikm, salt []byte) (cipher.AEAD, []byte, error) {
	key, err := hkdf.Key(sha256.New, ikm, salt, "Content-Encoding: aes128gcm\x00", 16)
	if err != nil {
		return nil, nil, err
	}
	nonce, err := hkdf.Key(sha256.New, ikm, salt, "Content-Encoding: nonce\x00", 12)
	if err != nil {
		return nil, nil, err
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, nil, err
	}
	gcm, err := cipher.NewGCM(block)
	return gcm, nonce, err
}

// keys reads what a browser gave; both come in base64url.
func (s *Subscription) keys() (ua, auth []byte, err error) {
	if ua, err = b64.DecodeString(s.P256dh); err == nil {
		auth, err = b64.DecodeString(s.Auth)
	}
	if err == nil {
		_, err = ecdh.P256().NewPublicKey(ua)
	}
	if err == nil && len(auth) != 16 {
		err = errors.New("the secret has 16 bytes")
	}
	if err != nil {
		return nil, nil, fmt.Errorf("the keys of the subscription can't be read: %w", err)
	}
	return ua, auth, nil
}
