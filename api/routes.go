package api

import "reflect"

// Role says which principal a route is for. The zero role lets nobody in.
type Role string

// Roles of routes.
const (
	Nobody   Role = ""
	Anybody  Role = "anybody" // before login: the page itself, login, health
	Agents   Role = "agents"
	People   Role = "people"
	Readers  Role = "readers"  // people who may only read, too; as with any GET of People
	Admins   Role = "admins"   // people who may change rules and keys
	Commands Role = "commands" // the same on the command line, not in a browser
	Keyed    Role = "keyed"    // any people on the command line
	Bearers  Role = "bearers"  // whoever has the secret that is in the body, from a program
)

// A Route is one method of the API. In and Out are the zero values of its
// bodies; nil is no body.
type Route struct {
	Name    string
	Method  string
	Path    string
	Role    Role
	In, Out any
	Stream  bool // answers with an event stream of Out
	Waits   bool // answers 202 with Out when the time to wait is over
}

// Routes is the whole API. The server refuses to start with a route it has no
// handler for, or a handler that has no route.
var Routes = []Route{
	{Name: "Propose", Method: "POST", Path: "/v1/batches", Role: Agents, In: Proposal{}, Out: Batch{}, Waits: true},
	{Name: "Batch", Method: "GET", Path: "/v1/batches/{id}", Role: Agents, Out: Batch{}},
	{Name: "Await", Method: "POST", Path: "/v1/batches/{id}/await", Role: Agents, In: Await{}, Out: Batch{}, Waits: true},
	{Name: "Withdraw", Method: "POST", Path: "/v1/batches/{id}/withdraw", Role: Agents, In: Withdraw{}, Out: None{}},
	{Name: "Consume", Method: "POST", Path: "/v1/batches/{id}/consume", Role: Agents, In: Consume{}, Out: AgentCall{}},
	{Name: "Renew", Method: "POST", Path: "/v1/batches/{id}/renew", Role: Agents, In: Renew{}, Out: None{}},
	{Name: "Extend", Method: "POST", Path: "/v1/batches/{id}/extend", Role: Agents, In: Extend{}, Out: Batch{}},
	{Name: "Finish", Method: "POST", Path: "/v1/batches/{id}/finish", Role: Agents, In: Finish{}, Out: Results{}},
	{Name: "Results", Method: "GET", Path: "/v1/batches/{id}/results", Role: Agents, Out: Results{}},
	{Name: "Report", Method: "POST", Path: "/v1/reports", Role: Agents, In: Report{}, Out: Reported{}},
	{Name: "Park", Method: "POST", Path: "/v1/batches/{id}/park", Role: Agents, In: Park{}, Out: None{}},
	{Name: "Leave", Method: "POST", Path: "/v1/sessions/leave", Role: Agents, In: Leave{}, Out: Left{}},
	{Name: "FollowMode", Method: "POST", Path: "/v1/sessions/follow", Role: Agents, In: FollowMode{}, Out: FollowedMode{}},
	{Name: "FollowInterrupts", Method: "POST", Path: "/v1/sessions/interrupts", Role: Agents, In: FollowInterrupts{}, Out: FollowedInterrupts{}},
	{Name: "Tools", Method: "POST", Path: "/v1/tools", Role: Agents, In: ToolsRequest{}, Out: Tools{}},

	{Name: "Calls", Method: "GET", Path: "/v1/calls", Role: People, Out: Calls{}},
	{Name: "Call", Method: "GET", Path: "/v1/calls/{id}", Role: People, Out: Call{}},
	{Name: "Decide", Method: "POST", Path: "/v1/calls/{id}/decision", Role: People, In: Decision{}, Out: Call{}},
	{Name: "Edit", Method: "POST", Path: "/v1/calls/{id}/input", Role: People, In: Edit{}, Out: Call{}},
	{Name: "TryMatch", Method: "POST", Path: "/v1/calls/{id}/trial", Role: Readers, In: TryMatch{}, Out: Trial{}},
	{Name: "Grants", Method: "GET", Path: "/v1/grants", Role: People, Out: Grants{}},
	{Name: "RevokeGrant", Method: "POST", Path: "/v1/grants/{id}/revoke", Role: People, In: None{}, Out: Grant{}},
	{Name: "Sessions", Method: "GET", Path: "/v1/sessions", Role: People, Out: Sessions{}},
	{Name: "SetMode", Method: "POST", Path: "/v1/sessions/mode", Role: People, In: SetMode{}, Out: AgentSession{}},
	{Name: "Interrupt", Method: "POST", Path: "/v1/sessions/interrupt", Role: People, In: Interrupt{}, Out: AgentSession{}},
	{Name: "Deferrals", Method: "GET", Path: "/v1/deferrals", Role: People, Out: Deferrals{}},
	{Name: "Policy", Method: "GET", Path: "/v1/policy", Role: People, Out: Policy{}},
	{Name: "ApplyPolicy", Method: "POST", Path: "/v1/policy", Role: Commands, In: ApplyPolicy{}, Out: Policy{}},
	{Name: "Rules", Method: "GET", Path: "/v1/rules", Role: People, Out: Rules{}},
	{Name: "Explain", Method: "POST", Path: "/v1/rules/explain", Role: Readers, In: Explain{}, Out: Explained{}},
	{Name: "Suggest", Method: "POST", Path: "/v1/rules/suggest", Role: Readers, In: SuggestRules{}, Out: Suggestions{}},
	{Name: "TryRule", Method: "POST", Path: "/v1/rules/try", Role: Readers, In: TryRule{}, Out: TriedRule{}},
	{Name: "AddRule", Method: "POST", Path: "/v1/rules", Role: Admins, In: AddRule{}, Out: Policy{}},
	{Name: "History", Method: "GET", Path: "/v1/history", Role: People, Out: History{}},
	{Name: "Facets", Method: "GET", Path: "/v1/history/facets", Role: People, Out: Facets{}},
	{Name: "Insight", Method: "GET", Path: "/v1/insight", Role: People, Out: Insight{}},
	{Name: "Audit", Method: "GET", Path: "/v1/audit", Role: People, Out: Audit{}},
	{Name: "PushKey", Method: "GET", Path: "/v1/push", Role: People, Out: PushKey{}},
	{Name: "Subscribe", Method: "POST", Path: "/v1/push", Role: People, In: Subscribe{}, Out: None{}},
	{Name: "Unsubscribe", Method: "POST", Path: "/v1/push/end", Role: People, In: Unsubscribe{}, Out: None{}},
	{Name: "Look", Method: "POST", Path: "/v1/look", Role: Readers, In: None{}, Out: None{}},
	{Name: "Notifications", Method: "GET", Path: "/v1/notifications", Role: People, Out: Notifications{}},
	{Name: "TryChannels", Method: "POST", Path: "/v1/notifications/test", Role: Commands, In: TryChannels{}, Out: TriedChannels{}},
	{Name: "Press", Method: "POST", Path: "/v1/presses", Role: Bearers, In: Press{}, Out: Pressed{}},
	{Name: "PhoneLink", Method: "POST", Path: "/v1/phone-link", Role: People, In: None{}, Out: PhoneLink{}},
	{Name: "Events", Method: "GET", Path: "/v1/events", Role: People, Out: Event{}, Stream: true},
	{Name: "Trail", Method: "GET", Path: "/v1/trail", Role: People, Out: Trail{}},
	{Name: "Status", Method: "GET", Path: "/v1/status", Role: People, Out: Status{}},
	{Name: "Pause", Method: "POST", Path: "/v1/pause", Role: People, In: PauseRequest{}, Out: Status{}},
	{Name: "Unpause", Method: "POST", Path: "/v1/unpause", Role: People, In: None{}, Out: Status{}},
	{Name: "Unmute", Method: "POST", Path: "/v1/agents/{id}/unmute", Role: People, In: None{}, Out: Status{}},
	{Name: "Logout", Method: "POST", Path: "/v1/logout", Role: Readers, In: None{}, Out: None{}},

	{Name: "Keys", Method: "GET", Path: "/v1/keys", Role: People, Out: Keys{}},
	{Name: "AddKey", Method: "POST", Path: "/v1/keys", Role: Commands, In: AddKey{}, Out: MadeKey{}},
	{Name: "RotateKey", Method: "POST", Path: "/v1/keys/{id}/rotate", Role: Commands, In: None{}, Out: MadeKey{}},
	{Name: "RevokeKey", Method: "POST", Path: "/v1/keys/{id}/revoke", Role: Admins, In: None{}, Out: Key{}},
	{Name: "Passkeys", Method: "GET", Path: "/v1/passkeys", Role: People, Out: Passkeys{}},
	{Name: "AddPasskey", Method: "POST", Path: "/v1/passkeys", Role: People, In: AddPasskey{}, Out: Passkey{}},
	{Name: "RemovePasskey", Method: "POST", Path: "/v1/passkeys/{id}/remove", Role: People, In: None{}, Out: Passkey{}},
	{Name: "LoginCode", Method: "POST", Path: "/v1/login-codes", Role: Keyed, In: None{}, Out: LoginCode{}},
	{Name: "Login", Method: "POST", Path: "/v1/login", Role: Anybody, In: Login{}, Out: LoggedIn{}},
	{Name: "Health", Method: "GET", Path: "/healthz", Role: Anybody, Out: None{}},
	{Name: "Spec", Method: "GET", Path: "/v1/openapi.json", Role: Anybody},
	{Name: "Ready", Method: "GET", Path: "/readyz", Role: Anybody, Out: Ready{}},
}

// Types lists every type of the contract once, in the order of the routes.
func Types() []reflect.Type {
	return typesOf(func(r Route) []any { return []any{r.In, r.Out} })
}

// Answers lists those that are part of an answer.
func Answers() []reflect.Type {
	return typesOf(func(r Route) []any { return []any{r.Out} })
}

func typesOf(bodies func(Route) []any) (out []reflect.Type) {
	seen := map[reflect.Type]bool{}
	var add func(reflect.Type)
	add = func(t reflect.Type) {
		for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice || t.Kind() == reflect.Map {
			t = t.Elem()
		}
		if t.Kind() != reflect.Struct || t.PkgPath() == "time" || seen[t] {
			return
		}
		seen[t] = true
		for i := range t.NumField() {
			add(t.Field(i).Type)
		}
		out = append(out, t)
	}
	for _, r := range Routes {
		for _, v := range bodies(r) {
			if v != nil {
				add(reflect.TypeOf(v))
			}
		}
	}
	add(reflect.TypeFor[Problem]())
	return out
}
