package redact

import "strings"

// weight is how much a name says that its value is secret.
type weight int

const (
	none   weight = iota
	hint          // of a value that looks like one
	likely        // of one that is no plain word
	sure          // of any
)

var (
	// within a name, wherever.
	surely = []string{"password", "passwd", "passphrase", "passwort", "secret", "apikey", "credential", "privatekey", "accesskey", "accountkey", "sharedkey", "signingkey", "encryptionkey", "masterkey"}
	// as a part of a name, or as two that follow each other.
	parts = map[string]weight{
		"pwd": sure, "pass": sure, "pw": sure, "passcode": sure, "pin": likely,
		"token": likely, "jwt": likely, "pat": likely, "bearer": likely, "sig": likely, "cookie": likely, "sas": likely, "otp": likely, "dsn": hint,
		"auth": hint, "authorization": hint, "key": hint, "signature": hint, "webhook": hint,
	}
	// after such a part a name is about a secret, and does not hold it.
	about = map[string]bool{
		"name": true, "names": true, "file": true, "path": true, "dir": true, "type": true, "count": true, "length": true, "len": true, "size": true, "limit": true, "field": true,
		"env": true, "ref": true, "expires": true, "expiry": true, "ttl": true, "enabled": true, "required": true, "hint": true, "label": true, "prompt": true, "version": true,
		"manager": true, "policy": true, "url": true, "uri": true, "endpoint": true, "min": true, "max": true, "format": true, "mode": true, "status": true, "method": true, "provider": true,
	}
)

// promising is a quick look for any of surely.
func promising(s string) bool {
	return strings.Contains(s, "key") || strings.Contains(s, "pass") || strings.Contains(s, "secret") || strings.Contains(s, "credential")
}

const longestName = 64

// weigh judges a name: DB_PASSWORD, apiKey, x-auth-token.
func weigh(name string) weight {
	if len(name) < 2 || len(name) > longestName {
		return none
	}
	var flat, word [longestName]byte
	n, w := 0, 0
	out, tail := none, false
	part := func() {
		if w == 0 {
			return
		}
		out = max(out, parts[string(word[:w])])
		tail, w = about[string(word[:w])], 0
	}
	for i := range len(name) {
		c := name[i]
		switch {
		case c >= 'A' && c <= 'Z':
			if i > 0 && name[i-1] >= 'a' && name[i-1] <= 'z' {
				part()
			}
			c += 'a' - 'A'
		case c >= 'a' && c <= 'z':
		default:
			part()
			continue
		}
		flat[n], word[w] = c, c
		n, w = n+1, w+1
	}
	part()
	if all := string(flat[:n]); out != sure && promising(all) {
		for _, s := range surely {
			if strings.Contains(all, s) {
				out = sure
				break
			}
		}
	}
	if tail {
		return none
	}
	return out
}
