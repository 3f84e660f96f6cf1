package notify

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/gatelatch/gatelatch/internal/strictjson"
)

// webhook posts CloudEvents 1.0 in JSON, signed as Standard Webhooks says.
type webhook struct {
	url    string
	key    []byte
	source string
	client *http.Client
	now    func() time.Time
}

// cloudEvent is the envelope.
type cloudEvent struct {
	Spec    string    `json:"specversion"`
	ID      string    `json:"id"`
	Source  string    `json:"source"`
	Type    string    `json:"type"`
	Subject string    `json:"subject,omitempty"`
	Time    time.Time `json:"time"`
	Content string    `json:"datacontenttype"`
	Data    eventData `json:"data"`
}

// eventData is what programs are told; the command hook gets the same.
type eventData struct {
	Kind    string `json:"kind"`
	Call    string `json:"call,omitempty"`
	Title   string `json:"title"`
	Text    string `json:"text"`
	Tool    string `json:"tool,omitempty"`
	Agent   string `json:"agent,omitempty"`
	Project string `json:"project,omitempty"`
	Risk    Risk   `json:"risk,omitempty"`
	Link    string `json:"link"`
	Round   int    `json:"reminder,omitempty"`
	Outcome string `json:"outcome,omitempty"`
	By      string `json:"by,omitempty"`
	Input   string `json:"input,omitempty"`
}

func envelope(n Notice, source string) ([]byte, error) {
	return strictjson.Marshal(cloudEvent{
		Spec: "1.0", ID: n.ID, Source: source, Type: "dev.gatelatch.call." + string(n.Kind), Subject: n.Call, Time: n.At.UTC(), Content: "application/json",
		Data: eventData{
			Kind: string(n.Kind), Call: n.Call, Title: n.Title, Text: n.Text, Tool: n.Tool, Agent: n.Agent, Project: n.Project,
			Risk: n.Risk, Link: n.Link, Round: n.Round, Outcome: n.Outcome, By: n.By, Input: n.Input,
		},
	})
}

// Send implements Channel.
func (w *webhook) Send(ctx context.Context, n Notice) error {
	body, err := envelope(n, w.source)
	if err != nil {
		return permanent(err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, w.url, bytes.NewReader(body))
	if err != nil {
		return permanent(errors.New("the address can't be read"))
	}
	req.Header.Set("Content-Type", "application/cloudevents+json; charset=utf-8")
	at := strconv.FormatInt(w.now().Unix(), 10)
	req.Header.Set("webhook-id", n.ID)
	req.Header.Set("webhook-timestamp", at)
	if w.key != nil {
		mac := hmac.New(sha256.New, w.key)
		mac.Write([]byte(n.ID + "." + at + "."))
		mac.Write(body)
		req.Header.Set("webhook-signature", "v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil)))
	}
	return post(w.client, req)
}

// webhookKey reads a secret as Standard Webhooks writes it.
func webhookKey(secret string) ([]byte, error) {
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	if err != nil || !strings.HasPrefix(secret, "whsec_") || len(key) < 24 || len(key) > 64 {
		return nil, errors.New(`the secret is "whsec_" and 24 to 64 bytes in base64; make one with: echo whsec_$(head -c 32 /dev/urandom | base64)`)
	}
	return key, nil
}
