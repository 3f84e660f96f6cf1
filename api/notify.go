package api

import "time"

// Notifications says who is told of calls that wait, and how that goes.
type Notifications struct {
	Channels []Channel `json:"channels"`
	// Browsers is how many take messages while the page is closed.
	Browsers int `json:"browsers"`
	// Messages are the newest first: what waits, what was sent, what failed.
	Messages []Message `json:"messages"`
}

// Channel is one way in which people are told.
type Channel struct {
	Name    string     `json:"name"`
	Type    string     `json:"type"` // desktop, webhook, ntfy, email or command
	Buttons bool       `json:"buttons,omitempty"`
	Input   bool       `json:"include_input,omitempty"`
	Waiting int        `json:"waiting"`        // messages that are not out yet
	Dead    int        `json:"dead"`           // that can't be delivered
	Sent    *time.Time `json:"sent,omitempty"` // the last
}

// Message is what people are told about a call by one channel.
type Message struct {
	ID      string     `json:"id"`
	Kind    string     `json:"kind"` // asked, reminder or settled
	Round   int        `json:"reminder,omitempty"`
	Channel string     `json:"channel"`
	Call    string     `json:"call"`
	State   string     `json:"state"` // waiting, sent, dropped or dead
	At      time.Time  `json:"at"`
	Due     *time.Time `json:"due,omitempty"`
	Sent    *time.Time `json:"sent,omitempty"`
	Tries   int        `json:"tries"`
	Error   string     `json:"error,omitempty"` // of the last try
}

// TryChannels sends a test by one channel, or by all.
type TryChannels struct {
	Channel string `json:"channel,omitempty"`
}

// TriedChannels is how that went.
type TriedChannels struct {
	Tried []TriedChannel `json:"tried"`
}

// TriedChannel is how one went.
type TriedChannel struct {
	Channel string `json:"channel"`
	Type    string `json:"type"`
	OK      bool   `json:"ok"`
	Millis  int64  `json:"milliseconds"`
	Error   string `json:"error,omitempty"`
}

// Press decides by the secret of a button in a message. Each works once.
type Press struct {
	Token string `json:"token"`
}

// Pressed is what the press of a button did.
type Pressed struct {
	Call  string `json:"call"`
	State string `json:"state"`
}
