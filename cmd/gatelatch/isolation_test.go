package main

import (
	"context"
	"net/http"
	"testing"

	"github.com/gatelatch/gatelatch/client"
)

func TestIsolationIsComputed(t *testing.T) {
	t.Parallel()
	by := func(uid int) *http.Request {
		return (&http.Request{}).WithContext(context.WithValue(t.Context(), connKey{}, &meet{peer: peer{uid: uid, pid: 7}}))
	}
	for name, tt := range map[string]struct {
		agents []int
		asked  []*http.Request
		want   string
	}{
		"nobody is named":             {nil, nil, advisory},
		"others are named":            {[]int{1001}, nil, separated},
		"and ask":                     {[]int{1001}, []*http.Request{by(1001)}, separated},
		"our own user asks, too":      {[]int{1001}, []*http.Request{by(1001), by(1000)}, advisory},
		"somebody on loopback":        {[]int{1001}, []*http.Request{{RemoteAddr: "127.0.0.1:1"}}, advisory},
		"another machine asks":        {[]int{1001}, []*http.Request{{RemoteAddr: "192.0.2.1:1"}}, separated},
		"somebody without an address": {[]int{1001}, []*http.Request{{}}, advisory},
	} {
		p := &peers{us: 1000, agents: tt.agents}
		for _, r := range tt.asked {
			p.asked(r)
		}
		if got := p.isolation(); got != tt.want {
			t.Errorf("%s: %s, want %s", name, got, tt.want)
		}
	}
}

func TestIsolationIsTold(t *testing.T) {
	opt := testGateway(t)
	c, err := client.ForPeople(opt.state)
	if err != nil {
		t.Fatal(err)
	}
	st, err := c.Status(t.Context())
	if err != nil || st.Isolation != advisory || st.Role != "admin" {
		t.Errorf("%+v, %v", st, err)
	}
}
