package server

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

// An agent of another machine that claims to be on this one would learn, by
// digests, what is in files here.
func TestWhoIsOfAnotherMachine(t *testing.T) {
	for name, tt := range map[string]struct {
		remote, host string
		foreign      bool
	}{
		"a socket":             {"@", "gatelatch", false},
		"loopback":             {"127.0.0.1:5000", "127.0.0.1:7474", false},
		"loopback, v6":         {"[::1]:5000", "[::1]:7474", false},
		"another machine":      {"192.0.2.7:5000", "192.0.2.1:7443", true},
		"one that lies":        {"192.0.2.7:5000", "127.0.0.1:7474", true},
		"behind a proxy here":  {"127.0.0.1:5000", "gate.example", true},
		"v4 in v6, not a loop": {"[::ffff:192.0.2.7]:5000", "127.0.0.1:7474", true},
	} {
		r := httptest.NewRequest(http.MethodPost, "/v1/batches", nil)
		r.RemoteAddr, r.Host = tt.remote, tt.host
		if got := foreign(r); got != tt.foreign {
			t.Errorf("%s: foreign is %t", name, got)
		}
	}
}
