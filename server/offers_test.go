package server_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/gatelatch/gatelatch/api"
)

func TestOffersOverTheAPI(t *testing.T) {
	const large = 64 << 10
	w := newWorld(t)
	w.propose("m1", "git commit -m one")
	w.propose("m2", "git commit -m "+strings.Repeat("x", large))
	var list api.Calls
	decode(t, send(w.tcp, w.as(w.request("GET", "/v1/calls?state=pending", nil), "browser")), http.StatusOK, &list)
	if len(list.Calls) != 2 {
		t.Fatalf("%d calls", len(list.Calls))
	}
	for _, c := range list.Calls {
		if len(c.Input) > large {
			if c.Remember != nil {
				t.Errorf("a large input has %+v", c.Remember)
			}
			continue
		}
		if len(c.Remember) != 3 {
			t.Fatalf("%+v", c.Remember)
		}
		for _, r := range c.Remember {
			if len(r.Offers) != 2 || r.Offers[0].Match != r.Match || r.Offers[1].Match != "Bash(git commit:*)" || len(r.Offers[1].Also) == 0 {
				t.Errorf("%s: %+v", r.Scope, r)
			}
		}
	}
}
