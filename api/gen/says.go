package main

import (
	"fmt"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/api"
)

// says is what each route is for, in a sentence. Every route has one.
var says = map[string]string{ //nolint:gosec // sentences, no secrets
	"Propose":    "Propose the calls of one model message. The same message gives the same batch. With wait_seconds the answer comes when the batch is held or the time is over (202).",
	"Batch":      "Read a batch of one's own, at any later time.",
	"Await":      "Wait until every call is settled and hold the batch then. 202 says that the time is over: ask again.",
	"Withdraw":   "Take back what still waits.",
	"Consume":    "Use the allow of one call: only then may it run, with the input that comes back.",
	"Renew":      "Keep the batch for another lease.",
	"Extend":     "Propose calls that turned out to need permission while the batch runs. It has to be awaited again.",
	"Finish":     "End the batch and read its results, all durable: only then may the model go on.",
	"Results":    "Read what the calls came to so far.",
	"Report":     "Tell how a call went.",
	"Park":       "Say that nobody waits for the answer at present, and that it is still wanted.",
	"Leave":      "Take back what still waits in a session, because its turn is over.",
	"FollowMode": "Wait until a person chose another mode for a session.",

	"FollowInterrupts": "Wait until a person interrupts a session.",

	"Tools": "Ask which of its tools an agent may offer to its model.",

	"Calls":       "List what waits or what is settled.",
	"Call":        "Read one call as people see it.",
	"Decide":      "Settle one call. The first decision wins; the same one again is harmless.",
	"Edit":        "Replace the input of a waiting call. It has to be decided again.",
	"TryMatch":    "Ask what remembering a matcher would do.",
	"Grants":      "List what was remembered.",
	"RevokeGrant": "End a grant at once, also for what it allowed and nobody has consumed.",
	"Sessions":    "List the sessions of all agents.",
	"SetMode":     "Choose the mode of a session.",
	"Interrupt":   "End the turn of a session: what waits in it is denied, and the agent stops.",
	"Deferrals":   "List what waits to be resumed.",
	"Policy":      "Read the rules in force.",
	"ApplyPolicy": "Put rules in force for all gateways of a store.",
	"Rules":       "Read the rules in force as a table.",
	"Explain":     "Ask what the rules say about a call, and why, without making it.",
	"Suggest":     "Ask for rules that would have saved questions.",
	"TryRule":     "Ask what a rule would change.",
	"AddRule":     "Put a tried rule in force.",
	"History":     "Search what was settled.",
	"Facets":      "List what history can be searched by.",
	"Insight":     "Read numbers of the last days.",
	"Audit":       "Check the audit trail.",
	"PushKey":     "Read what a browser needs to take messages.",
	"Subscribe":   "Have messages sent to a browser.",
	"Unsubscribe": "End that.",
	"PhoneLink":   "Make a link that logs another device in.",
	"Events":      "Follow the audit trail as it grows. A stream that ended is taken up again behind its last id: by after or the header Last-Event-ID.",
	"Trail":       "Read the audit trail in parts.",
	"Status":      "Read what holds for the whole gateway.",
	"Pause":       "Deny everything until it is resumed.",
	"Unpause":     "End a pause.",
	"Unmute":      "Let an agent ask again that asked too much.",
	"Logout":      "End a browser's session.",
	"Look":        "Say that somebody looks at the page: messages elsewhere may wait.",

	"Notifications": "List the channels that tell people, and what they could not deliver.",
	"TryChannels":   "Send a test message.",
	"Press":         "Decide by the token of a button in a message. It works once.",

	"Keys":      "List who may come in: keys and browsers.",
	"AddKey":    "Make a key. Its secret is shown this once.",
	"RotateKey": "Give a key another secret; the old one ends.",
	"RevokeKey": "End a key or a browser's session at once.",

	"Passkeys":      "List the passkeys that sign what people allow, and what needs them.",
	"AddPasskey":    "Enrol a passkey that the browser made. One that is known signs for it, but for the first.",
	"RemovePasskey": "End a passkey. One that is known signs for it, but at the approver's socket.",

	"LoginCode": "Make a link that logs one browser in.",
	"Login":     "Trade a code for a browser's session.",
	"Health":    "Hear that the gateway answers.",
	"Ready":     "Hear whether the gateway can decide now. 503 says no, and names what keeps it.",
	"Spec":      "Read this description.",
}

// enums are the words that a text may be.
var enums = map[string][]string{
	"AgentCall.kind":    kinds,
	"AgentCall.state":   states,
	"AgentCall.effect":  {"deny", "ask", "allow"},
	"Call.kind":         kinds,
	"Call.state":        states,
	"Decided.state":     states,
	"Decision.state":    words(gatelatch.Allowed, gatelatch.Denied),
	"Outcome.kind":      words(gatelatch.Done, gatelatch.Failed, gatelatch.Unknown),
	"ProposedCall.kind": kinds,
	"Result.state":      states,
	"Terms.scope":       words(gatelatch.ForSession, gatelatch.ForProject, gatelatch.Always),
	"Passkeys.signing":  {"off", "risky", "all"},
	"Problem.code":      codes(),
}

var (
	kinds  = words(gatelatch.Permission, gatelatch.Question, gatelatch.Plan)
	states = words(gatelatch.Pending, gatelatch.Allowed, gatelatch.Denied, gatelatch.Expired, gatelatch.Withdrawn, gatelatch.Revoked, gatelatch.Lapsed)
)

func words[T ~string](all ...T) (out []string) {
	for _, w := range all {
		out = append(out, string(w))
	}
	return out
}

func codes() (out []string) {
	for _, k := range api.Problems {
		out = append(out, k.Code)
	}
	return out
}

// schemes are the ways to show who asks.
var schemes = dict{
	"agentKey":    dict{"type": "http", "scheme": "bearer", "description": "The key in agent.key of the state directory: it can only ask."},
	"approverKey": dict{"type": "http", "scheme": "bearer", "description": "The key in approver.key of the state directory: a person on the command line."},
	"cookie":      dict{"type": "apiKey", "in": "cookie", "name": api.CookiePrefix + "PORT", "description": "One half of a browser's session; it goes with the other."},
	"page":        dict{"type": "apiKey", "in": "header", "name": api.PageHeader, "description": "The page's half: a proof for this one request."},
}

// security is who may use a route of a role.
func security(r api.Role) ([]dict, error) {
	agent, approver, browser := dict{"agentKey": []string{}}, dict{"approverKey": []string{}}, dict{"cookie": []string{}, "page": []string{}}
	switch r {
	case api.Anybody, api.Bearers:
		return []dict{}, nil
	case api.Agents:
		return []dict{agent}, nil
	case api.People, api.Readers, api.Admins:
		return []dict{approver, browser}, nil
	case api.Commands, api.Keyed:
		return []dict{approver}, nil
	default:
		return nil, fmt.Errorf("role %q has no security scheme: say in api/gen/says.go who it is for", r)
	}
}

// headers are those that routes read besides the usual ones.
var headers = map[string][]query{
	"Propose": {{api.IdempotencyHeader, text, "stands for message where the body has none"}},
	"Consume": {{api.IdempotencyHeader, text, "stands for nonce where the body has none"}},
	"Events":  {{"Last-Event-ID", integer, "the id of the last event that was received; it comes before after"}},
}
