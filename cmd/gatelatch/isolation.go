package main

import (
	"context"
	"net"
	"net/http"
)

// Levels of isolation; see docs/threat-model.md.
const (
	advisory  = "advisory"
	separated = "separated"
	signed    = "signed"
)

// isolation is signed where agents are separated, passkeys are asked for and
// somebody has one.
func (g *gateway) isolation() string {
	level := g.peers.isolation()
	if level != separated || g.opt.signing == "" {
		return level
	}
	ks, err := g.auth.Passkeys(context.Background(), nil)
	if err != nil || len(ks) == 0 {
		return level
	}
	return signed
}

// isolation is what was seen, not what was meant: one agent that runs as our
// own user could read our keys.
func (p *peers) isolation() string {
	if len(p.agents) > 0 && !p.near.Load() {
		return separated
	}
	return advisory
}

// asked notes an agent that may run as our own user: by the kernel's word or,
// on loopback, because nobody can tell.
func (p *peers) asked(r *http.Request) {
	near := false
	if m, ok := r.Context().Value(connKey{}).(*meet); ok {
		near = m.err != nil || m.uid == p.us
	} else if host, _, err := net.SplitHostPort(r.RemoteAddr); err != nil || isLoopback(host) {
		near = true
	}
	if near {
		p.near.Store(true)
	}
}
