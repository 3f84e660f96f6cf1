package server

import (
	"errors"
	"slices"
	"time"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/api"
)

// keys lists what lets somebody in; ?all=true also what did once.
func keys(s *Server, q *request) (out api.Keys, err error) {
	all := false
	for name, values := range q.URL.Query() {
		if name != "all" || len(values) != 1 || values[0] != "true" {
			return out, badQuery(name, "is not known")
		}
		all = true
	}
	ks, err := s.opt.Auth.Keys(q.Context(), all)
	if err != nil {
		return out, err
	}
	slices.SortFunc(ks, func(a, b *gatelatch.Key) int { return b.Created.Compare(a.Created) })
	out.Keys = []api.Key{}
	for _, k := range ks {
		out.Keys = append(out.Keys, s.key(q, k))
	}
	return out, nil
}

func (s *Server) key(q *request, k *gatelatch.Key) api.Key {
	return api.Key{
		ID: k.ID, Kind: string(k.Kind), Role: string(k.Role()), Name: k.Name, Parent: k.Parent, File: s.opt.Auth.File(k.ID), You: k.ID == q.key.ID,
		Created: k.Created, Used: timeOrNil(k.Used), Expires: timeOrNil(k.Expires), Revoked: timeOrNil(k.Revoked),
	}
}

// maxKeyLife is what a time in seconds can say without running over.
const maxKeyLife = 100 * 365 * 24 * time.Hour

func addKey(s *Server, q *request, in api.AddKey) (out api.MadeKey, err error) {
	var expires time.Time
	if in.For != 0 {
		if in.For < 0 || in.For > int(maxKeyLife/time.Second) {
			return out, invalid(errors.New("for_seconds is not a time that a key may last"))
		}
		now, err := s.opt.Auth.Now(q.Context())
		if err != nil {
			return out, err
		}
		expires = now.Add(time.Duration(in.For) * time.Second)
	}
	secret, k, err := s.opt.Auth.Add(q.Context(), in.Name, gatelatch.Role(in.Role), expires, q.who)
	if err != nil {
		return out, err
	}
	return api.MadeKey{Key: s.key(q, k), Secret: secret}, nil
}

func rotateKey(s *Server, q *request, _ api.None) (out api.MadeKey, err error) {
	secret, k, err := s.opt.Auth.Rotate(q.Context(), q.PathValue("id"), q.who)
	if err != nil {
		return out, err
	}
	return api.MadeKey{Key: s.key(q, k), Secret: secret}, nil
}

func revokeKey(s *Server, q *request, _ api.None) (out api.Key, err error) {
	k, err := s.opt.Auth.Revoke(q.Context(), q.PathValue("id"), q.who)
	if err != nil {
		return out, err
	}
	return s.key(q, k), nil
}
