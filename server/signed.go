package server

import (
	"fmt"
	"net/url"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/api"
	"github.com/gatelatch/gatelatch/auth"
)

// ownEvent are the routes whose own event holds the signature.
var ownEvent = map[string]bool{"Decide": true, "SetMode": true, "AddPasskey": true, "RemovePasskey": true}

// sign checks the signature that a person's request carries, and that it has
// one if it loosens something. Allows, modes and passkeys are refused by who
// keeps them, whatever way they come.
func (s *Server) sign(q *request, raw []byte, in any) (err error) {
	if q.who.Kind != gatelatch.PersonActor {
		return nil
	}
	q.passkey, err = s.opt.Auth.Signed(q.Context(), auth.Signing{
		Method: q.Method, Target: q.URL.RequestURI(), Says: api.Says(in), Body: raw, Origin: q.origin(), Header: q.Header, Note: !ownEvent[q.route.Name],
	}, q.key)
	if err != nil || q.passkey != nil || s.opt.Signing == "" {
		return err
	}
	switch in := in.(type) {
	case api.AddRule:
		if in.Effect == gatelatch.Deny.String() {
			return nil
		}
		return gatelatch.ErrUnsigned
	case api.AddKey:
		if in.Role == string(gatelatch.AgentRole) {
			return nil
		}
	}
	switch q.route.Name {
	case "PhoneLink":
		return gatelatch.ErrUnsigned
	case "ApplyPolicy", "AddKey", "RotateKey", "LoginCode", "Unpause", "Unmute":
		if !q.near() {
			return fmt.Errorf("from elsewhere than the approver's socket %w", gatelatch.ErrUnsigned)
		}
	}
	return nil
}

// near says that the request came by the approver's socket: from the gateway's
// own user, who could change what needs a signature as well.
func (q *request) near() bool { return len(q.door.Origins) == 0 }

// origin is that of the page at this address, "" at a socket.
func (q *request) origin() string {
	if q.near() {
		return ""
	}
	return q.door.origin(q.Host)
}

// domain is what passkeys of the page at this address are for.
func (q *request) domain() string {
	u, err := url.Parse(q.origin())
	if err != nil {
		return ""
	}
	return u.Hostname()
}
