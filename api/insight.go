package api

import "time"

// History is one part of what is settled, newest first. Next goes on behind
// it, also where nothing of this part was wanted.
type History struct {
	Calls []Call `json:"calls"`
	Next  string `json:"next,omitempty"`
	Seq   int64  `json:"seq"`
}

// Facets are what a history can be narrowed to.
type Facets struct {
	Tools    []string  `json:"tools"`
	Agents   []Actor   `json:"agents"`
	Sessions []Session `json:"sessions"`
}

// Insight is what the gateway was needed for, day by day.
type Insight struct {
	Days  []Day      `json:"days"` // oldest first, also those without a call
	Calls int        `json:"calls"`
	Asked int        `json:"asked"`       // a person had to look
	Rules int        `json:"rules"`       // settled without one
	Half  int        `json:"half_millis"` // half of the decisions took at most this
	Most  []AskedFor `json:"most"`        // asked most
	Since *time.Time `json:"since,omitempty"`
	Work  Work       `json:"work"`
}

// Day is one day in the zone that was asked for.
type Day struct {
	Date  string `json:"date"` // 2006-01-02
	Calls int    `json:"calls"`
	Asked int    `json:"asked"`
	Rules int    `json:"rules"`
	Half  int    `json:"half_millis"`
	Quick int    `json:"quick"` // decided within a second
}

// AskedFor is a kind of call, with one of them.
type AskedFor struct {
	What    string `json:"what"`
	Tool    string `json:"tool"`
	Asked   int    `json:"asked"`
	Allowed int    `json:"allowed"`
	Denied  int    `json:"denied"`
	Half    int    `json:"half_millis"`
	Call    string `json:"call"`
}

// Audit says how far the trail was found whole. It is checked from its first
// event on; ask again while Checked is less than Seq.
type Audit struct {
	Checked int64      `json:"checked"`
	Seq     int64      `json:"seq"`
	At      *time.Time `json:"at,omitempty"` // of the last look
	Problem string     `json:"problem,omitempty"`
}
