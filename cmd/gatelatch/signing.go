package main

import (
	"errors"
	"fmt"
	"net"
	"syscall"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/notify"
)

// signing is what needs a person's passkey: "" is nothing.
type signing string

const (
	signRisky signing = "risky"
	signAll   signing = "all"
)

func (c config) signing() signing {
	if c.Signing == "off" {
		return ""
	}
	return signing(c.Signing)
}

// must is what the gate asks of each allow. What goes on allowing needs a
// passkey in any case, like a call that a button in a message could not allow.
func (s signing) must() func(*gatelatch.Call, gatelatch.Decision) bool {
	switch s {
	case "":
		return nil
	case signRisky:
		return func(c *gatelatch.Call, d gatelatch.Decision) bool {
			return d.Remember != nil || notify.RiskOf(c) == notify.High
		}
	case signAll:
	}
	return func(*gatelatch.Call, gatelatch.Decision) bool { return true }
}

// name lets browsers find a loopback front by a name, since passkeys have no
// addresses. The name must lead to nobody else, so both of its addresses are taken.
func (f *front) name() error {
	const name = "localhost"
	host, port, _ := net.SplitHostPort(f.Addr().String())
	other := map[string]string{"127.0.0.1": "::1", "::1": "127.0.0.1"}[host]
	if other == "" {
		return withHint(fmt.Errorf("signing needs a name, and %s is not where localhost leads", host), "listen on "+defaultListen+", or give --public-url or a certificate")
	}
	ln, err := net.Listen("tcp", net.JoinHostPort(other, port))
	switch {
	case err == nil:
		f.twin = ln
	case errors.Is(err, syscall.EADDRNOTAVAIL), errors.Is(err, syscall.EAFNOSUPPORT): // there is no such address here
	default:
		return withHint(fmt.Errorf("localhost could lead to somebody else: %w", err), "choose a port that is free on 127.0.0.1 and on [::1]")
	}
	f.door = f.door.Named(name)
	f.page = "http://" + net.JoinHostPort(name, port)
	return nil
}
