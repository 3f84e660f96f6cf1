package api

import "time"

// Rules are those in force, by layer and as they are written.
type Rules struct {
	Rules    []Rule `json:"rules"`
	Revision int64  `json:"revision"`
	Path     string `json:"path,omitempty"`    // of the file that holds yours; none if gateways share them
	Problem  string `json:"problem,omitempty"` // why a file can't be read
}

// Rule is one line of a policy. Used counts settled calls that it spoke about,
// among those that the gateway still knows.
type Rule struct {
	Effect   string     `json:"effect"`
	Text     string     `json:"text"`
	Layer    string     `json:"layer"` // default, machine, user or project
	Source   string     `json:"source,omitempty"`
	Project  string     `json:"project,omitempty"`
	Why      string     `json:"why,omitempty"`
	Where    []string   `json:"where,omitempty"`
	Until    *time.Time `json:"until,omitempty"`
	Used     int        `json:"used"`
	LastUsed *time.Time `json:"last_used,omitempty"`
}

// Explain asks what the rules make of a call. Either Call names one, which is
// judged anew as it is and with what is remembered for it; or Tool and Input
// describe one that nobody makes. Input is what the tool is mainly about (a
// command, a path, an address), or its whole input as JSON.
type Explain struct {
	Call    string `json:"call,omitempty"`
	Tool    string `json:"tool,omitempty"`
	Input   string `json:"input,omitempty"`
	Project string `json:"project,omitempty"`
	Mode    string `json:"mode,omitempty"`
}

// Explained is the verdict with the call it is about: the parts that reasons
// speak about are marked in the card.
type Explained struct {
	Verdict Verdict `json:"verdict"`
	Card    Card    `json:"card"`
	Tool    string  `json:"tool"`
	Project string  `json:"project,omitempty"`
	// Layers says what each layer had to say, in the order in which they are asked.
	Layers []LayerSaid `json:"layers"`
}

// LayerSaid is what one layer said; without an effect it was silent.
type LayerSaid struct {
	Layer   string   `json:"layer"`
	Effect  string   `json:"effect,omitempty"`
	Reasons []Reason `json:"reasons,omitempty"`
}

// Work is something long that the gateway does beside its other work: ask
// again until it is ready.
type Work struct {
	Ready bool   `json:"ready"`
	Done  int    `json:"done"` // calls looked at so far
	Wrong string `json:"wrong,omitempty"`
}

// SuggestRules asks for rules that would have saved questions. Anew forgets
// what was found before.
type SuggestRules struct {
	Anew bool `json:"anew,omitempty"`
}

// Suggestions are rules that go together, those that save most first.
type Suggestions struct {
	Work  Work         `json:"work"`
	At    *time.Time   `json:"at,omitempty"`
	Asks  int          `json:"asks"`  // questions in the history
	Calls int          `json:"calls"` // all that was looked at
	Rules []Suggestion `json:"rules"`
}

// Suggestion is one rule that would have saved questions, and never covers
// what a person refused.
type Suggestion struct {
	Match     string   `json:"match"`
	Call      string   `json:"call"` // one that it would have answered
	Saves     int      `json:"saves"`
	Undecided int      `json:"undecided,omitempty"`
	Also      string   `json:"also"` // what else it lets through
	Examples  []string `json:"examples"`
}

// TryRule asks what a rule would change if it were added to yours. Call is one
// that it is made from: an allow must cover it, and may be no wider than what
// an allow of that call may remember. Without Match it is the narrowest.
type TryRule struct {
	Effect string `json:"effect"` // allow or deny
	Match  string `json:"match,omitempty"`
	Call   string `json:"call"`
}

// TriedRule is a change of the rules, ready to be looked at. To apply it, name
// its digest.
type TriedRule struct {
	Work     Work      `json:"work"`
	Effect   string    `json:"effect"`
	Match    string    `json:"match"`
	Project  string    `json:"project,omitempty"` // the only one that the rule is for
	Offers   []Offer   `json:"offers"`
	Diff     []Line    `json:"diff"`
	Digest   string    `json:"digest"` // of the rules as they would be
	From     int64     `json:"from"`   // the revision in force
	Backtest *Backtest `json:"backtest,omitempty"`
	Safe     bool      `json:"safe"` // nothing that a person refused would be allowed
}

// Backtest is what the changed rules would have made of what happened.
type Backtest struct {
	Calls      int        `json:"calls"`
	AsksBefore int        `json:"asks_before"`
	AsksAfter  int        `json:"asks_after"`
	Vanish     int        `json:"asks_that_vanish"`
	New        int        `json:"new_asks"`
	Opened     []Replayed `json:"refused_but_allowed"`
	Closed     []Replayed `json:"allowed_but_denied"`
	Loosened   []Replayed `json:"denied_but_allowed"`
}

// Replayed is a settled call that would go another way.
type Replayed struct {
	Call string `json:"call"`
	Says string `json:"says"`
}

// AddRule puts a tried rule in force: exactly the change that was shown.
type AddRule struct {
	Effect string `json:"effect"`
	Match  string `json:"match"`
	Call   string `json:"call"`
	Digest string `json:"digest"`
}
