package server

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/api"
	"github.com/gatelatch/gatelatch/api/openapi"
	"github.com/gatelatch/gatelatch/auth"
	"github.com/gatelatch/gatelatch/internal/strictjson"
)

// endpoints has one entry for each of api.Routes.
func endpoints() map[string]endpoint {
	return map[string]endpoint{
		"Propose":          propose,
		"Batch":            get(batch),
		"Await":            await,
		"Withdraw":         post(withdraw),
		"Consume":          post(consume),
		"Renew":            post(renew),
		"Extend":           post(extend),
		"Finish":           post(finish),
		"Results":          get(results),
		"Report":           post(report),
		"Park":             post(park),
		"Leave":            post(leave),
		"Tools":            post(tools),
		"FollowMode":       post(followMode),
		"FollowInterrupts": post(followInterrupts),

		"Calls":       get(calls),
		"Call":        get(call),
		"Decide":      post(decide),
		"Edit":        post(edit),
		"TryMatch":    post(tryMatch),
		"Grants":      get(grants),
		"RevokeGrant": post(revokeGrant),
		"Sessions":    get(sessions),
		"SetMode":     post(setMode),
		"Interrupt":   post(interrupt),
		"Deferrals":   get(deferrals),
		"Policy":      get(policyInForce),
		"ApplyPolicy": post(applyPolicy),
		"Rules":       get(rules),
		"Explain":     post(explain),
		"Suggest":     post(suggest),
		"TryRule":     post(tryRule),
		"AddRule":     post(addRule),
		"History":     get(pastCalls),
		"Facets":      get(facets),
		"Insight":     get(insight),
		"Audit":       get(trailState),
		"PushKey":     get(pushKey),
		"Subscribe":   post(subscribe),
		"Unsubscribe": post(unsubscribe),
		"PhoneLink":   post(phoneLink),

		"Look":          post(look),
		"Notifications": get(notifications),
		"TryChannels":   post(tryChannels),
		"Press":         post(press),

		"Events":  events,
		"Trail":   get(trail),
		"Status":  get(status),
		"Pause":   post(pause),
		"Unpause": post(unpause),
		"Unmute":  post(unmute),
		"Logout":  post(logout),

		"Keys":          get(keys),
		"AddKey":        post(addKey),
		"RotateKey":     post(rotateKey),
		"RevokeKey":     post(revokeKey),
		"Passkeys":      get(passkeys),
		"AddPasskey":    post(addPasskey),
		"RemovePasskey": post(removePasskey),

		"LoginCode": post(loginCode),
		"Login":     post(login),
		"Ready":     ready,
		"Health":    get(func(*Server, *request) (api.None, error) { return api.None{}, nil }),
		"Spec":      get(func(*Server, *request) (json.RawMessage, error) { return openapi.JSON, nil }),
	}
}

// compact takes the white space out of inputs, which JSON does not keep.
func compact(calls []api.ProposedCall) error {
	for i := range calls {
		raw, err := strictjson.Compact(calls[i].Input)
		if err != nil {
			return invalid(err)
		}
		calls[i].Input = raw
	}
	return nil
}

func batch(_ *Server, q *request) (api.Batch, error) {
	b, err := q.seat.Batch(q.Context(), q.PathValue("id"))
	if err != nil {
		return api.Batch{}, err
	}
	return api.FromBatch(b, ""), nil
}

func withdraw(_ *Server, q *request, in api.Withdraw) (api.None, error) {
	return api.None{}, q.seat.Withdraw(q.Context(), q.PathValue("id"), in.Why)
}

func calls(s *Server, q *request) (out api.Calls, err error) {
	v := q.URL.Query()
	short, whole, err := takeBrief(v)
	if err != nil {
		return out, err
	}
	query, err := parseQuery(v)
	if err != nil {
		return out, err
	}
	// The end of the trail first: what happens meanwhile is then in the stream.
	st, err := q.seat.Status(q.Context())
	if err != nil {
		return out, err
	}
	p, err := q.seat.List(q.Context(), query)
	if err != nil {
		return out, err
	}
	out = api.Calls{Calls: []api.Call{}, More: p.More, Seq: int64(st.Seq)}
	size := 0
	for i, l := range p.Calls {
		if short && i >= whole {
			out.Calls = append(out.Calls, brief(l))
			continue
		}
		if size += len(l.Input); size > listBytes && len(out.Calls) > 0 {
			out.More = true // the rest comes with the next page
			break
		}
		if l.State.Settled() {
			l = veil(l)
		}
		c := q.view(l, len(l.Input) <= quickInput)
		if short {
			c.Before = s.before(q, l)
		}
		out.Calls = append(out.Calls, c)
	}
	return out, nil
}

// listBytes is how much of inputs one page of a list holds: an agent with
// large inputs must not make the list unreadable.
const listBytes = 2 << 20

// quickInput is the largest input that a list says what to remember of: for
// that, policy reads it three times over.
const quickInput = 64 << 10

func parseQuery(v map[string][]string) (q gatelatch.Query, err error) {
	for name, values := range v {
		if len(values) != 1 {
			return q, badQuery(name, "is given twice")
		}
		switch value := values[0]; name {
		case "state":
			if value != "pending" && value != "settled" {
				return q, badQuery(name, "is pending or settled")
			}
			q.Pending = value == "pending"
		case "after":
			q.After = value
		case "order":
			if value != "oldest" && value != "newest" {
				return q, badQuery(name, "is oldest or newest")
			}
			q.Newest = value == "newest"
		case "limit":
			if q.Limit, err = strconv.Atoi(value); err != nil || q.Limit < 1 || q.Limit > 500 {
				return q, badQuery(name, "is a number from 1 to 500")
			}
		default:
			return q, badQuery(name, "is not known")
		}
	}
	if _, ok := v["state"]; !ok {
		return q, badQuery("state", "is missing: pending or settled")
	}
	return q, nil
}

func badQuery(name, what string) error {
	return invalid(errors.New("query parameter " + strconv.Quote(name) + " " + what))
}

func call(s *Server, q *request) (api.Call, error) { return s.call(q, q.PathValue("id")) }

func (s *Server) call(q *request, id string) (api.Call, error) {
	l, err := q.seat.Call(q.Context(), id)
	if err != nil {
		return api.Call{}, err
	}
	out := q.view(l, true)
	out.Before = s.before(q, l)
	return out, nil
}

func decide(s *Server, q *request, in api.Decision) (api.Call, error) {
	d, err := in.Domain()
	if err != nil {
		return api.Call{}, invalid(err)
	}
	d.Signed = q.passkey
	id := q.PathValue("id")
	if _, err := q.seat.Decide(q.Context(), id, d); err != nil {
		return api.Call{}, err
	}
	return s.call(q, id)
}

func status(s *Server, q *request) (api.Status, error) {
	st, err := q.seat.Status(q.Context())
	if err != nil {
		return api.Status{}, err
	}
	out := api.Status{
		Version: s.opt.Version, You: actor(q.who), Role: string(q.key.Role()), Seq: int64(st.Seq),
		Notice: s.opt.Notice(), Silent: s.Silent(), Look: s.opt.Notify != nil && s.opt.Notify.PageDelay > 0,
		Isolation: s.opt.Isolation(), Muted: mutedOf(st),
	}
	if st.Pause.On {
		out.Paused = &api.Pause{By: actor(st.Pause.By), At: st.Pause.At, Note: st.Pause.Note}
	}
	return out, nil
}

func pause(s *Server, q *request, in api.PauseRequest) (api.Status, error) {
	if err := q.seat.Pause(q.Context(), in.Note); err != nil {
		return api.Status{}, err
	}
	return status(s, q)
}

func unpause(s *Server, q *request, _ api.None) (api.Status, error) {
	if err := q.seat.Unpause(q.Context()); err != nil {
		return api.Status{}, err
	}
	return status(s, q)
}

func loginCode(s *Server, q *request, _ api.None) (api.LoginCode, error) {
	makeCode := s.opt.Auth.Code
	if q.near() {
		makeCode = s.opt.Auth.NearCode
	}
	code, ends, err := makeCode(q.Context(), q.key)
	out := api.LoginCode{URL: s.opt.URL + "/login#c=" + code, Expires: ends}
	if s.opt.Public != "" {
		out.Public = s.opt.Public + "/login#c=" + code
	}
	return out, err
}

func login(s *Server, q *request, in api.Login) (api.LoggedIn, error) {
	cookie, page, key, err := s.opt.Auth.LoginAt(q.Context(), in.Code, from(q.Request), q.domain())
	if errors.Is(err, auth.ErrCode) {
		err = fmt.Errorf("%w: %w", err, gatelatch.ErrForbidden)
	}
	if err != nil {
		return api.LoggedIn{}, err
	}
	http.SetCookie(q.w, q.sessionCookie(cookie, int(auth.BrowserLife.Seconds())))
	return api.LoggedIn{Page: page, Name: key.Name}, nil
}

func logout(s *Server, q *request, _ api.None) (api.None, error) {
	if q.key.Kind == gatelatch.BrowserKey {
		if _, err := s.opt.Auth.Revoke(q.Context(), q.key.ID, q.who); err != nil {
			return api.None{}, err
		}
		http.SetCookie(q.w, q.sessionCookie("", -1))
	}
	return api.None{}, nil
}

// sessionCookie is Secure where the page is. On loopback it is plain HTTP, and
// the cookie is only half of a session.
func (q *request) sessionCookie(value string, age int) *http.Cookie {
	return &http.Cookie{ //nolint:gosec // see above
		Name: q.door.cookie, Value: value, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode, MaxAge: age,
		Secure: strings.HasPrefix(q.door.origin(q.Host), "https://"),
	}
}
