package api

import "time"

// PushKey is what a browser needs to take messages from this gateway.
type PushKey struct {
	Key string `json:"key"` // applicationServerKey, base64url
}

// Subscribe has messages sent to a browser, also while its page is closed.
type Subscribe struct {
	Endpoint string `json:"endpoint"`
	P256dh   string `json:"p256dh"`
	Auth     string `json:"auth"`
}

// Unsubscribe ends that.
type Unsubscribe struct {
	Endpoint string `json:"endpoint"`
}

// Pushed is what a message says: that calls wait and which is the newest, but
// nothing of what an agent wrote.
type Pushed struct {
	Call    string `json:"call"`
	Tool    string `json:"tool"`
	Project string `json:"project"`
	Waiting int    `json:"waiting"`
}

// PhoneLink logs another device in, once, soon. QR is its picture: a row of
// dark (#) and light (.) squares each, with a margin.
type PhoneLink struct {
	URL     string    `json:"url"`
	Expires time.Time `json:"expires"`
	QR      []string  `json:"qr"`
}
