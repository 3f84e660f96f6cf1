package server

import (
	"cmp"
	"encoding/base64"
	"errors"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/api"
	"github.com/gatelatch/gatelatch/auth"
	"github.com/gatelatch/gatelatch/render"
)

func passkeys(s *Server, q *request) (api.Passkeys, error) {
	out := api.Passkeys{Signing: cmp.Or(s.opt.Signing, "off"), Passkeys: []api.Passkey{}}
	all, err := s.opt.Auth.Passkeys(q.Context(), nil)
	if err != nil {
		return out, err
	}
	mine, err := s.opt.Auth.Passkeys(q.Context(), q.key)
	yours := map[string]bool{}
	for _, k := range mine {
		yours[k.ID] = true
	}
	for _, k := range all {
		v := q.viewPasskey(k)
		v.Yours = yours[k.ID]
		out.Passkeys = append(out.Passkeys, v)
	}
	return out, err
}

func (q *request) viewPasskey(k *gatelatch.Key) api.Passkey {
	return api.Passkey{
		ID: k.ID, Name: render.OneLine(k.Name), Credential: base64.RawURLEncoding.EncodeToString(k.Passkey.Credential), Domain: k.Passkey.RP, Here: k.Passkey.RP == q.domain(),
		Created: k.Created, Used: timeOrNil(k.Used), Removed: timeOrNil(k.Revoked),
	}
}

func addPasskey(s *Server, q *request, in api.AddPasskey) (out api.Passkey, err error) {
	credential, err := base64.RawURLEncoding.DecodeString(in.Credential)
	public, e := base64.RawURLEncoding.DecodeString(in.PublicKey)
	if err = errors.Join(err, e); err != nil {
		return out, invalid(errors.New("credential and public_key are base64url"))
	}
	k, err := s.opt.Auth.AddPasskey(q.Context(), auth.Enrolment{Name: in.Name, Credential: credential, Public: public, RP: q.domain()}, q.key, q.passkey)
	if err != nil {
		return out, err
	}
	out = q.viewPasskey(k)
	out.Yours = true
	return out, nil
}

func removePasskey(s *Server, q *request, _ api.None) (out api.Passkey, err error) {
	k, err := s.opt.Auth.RemovePasskey(q.Context(), q.PathValue("id"), q.key, q.near(), q.passkey)
	if err != nil {
		return out, err
	}
	return q.viewPasskey(k), nil
}
