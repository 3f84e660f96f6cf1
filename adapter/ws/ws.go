// Package ws carries JSON messages over WebSockets, one a line, for protocols of
// others. It is the only one that knows how.
package ws

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/coder/websocket"
	"github.com/gatelatch/gatelatch/internal/strictjson"
)

// A Conn carries messages both ways, each one JSON value.
type Conn interface {
	// Read returns the next message. It is called by one goroutine.
	Read(ctx context.Context) ([]byte, error)
	// Write sends one message, whole and not mixed with others.
	Write(ctx context.Context, v any) error
}

// Limits of a connection.
const (
	// MaxMessage is for who only answers. A larger input, of an edit, goes by HTTP.
	MaxMessage = 64 << 10

	writeTime = 10 * time.Second // who does not read is cut off
	pingEvery = 20 * time.Second // so that nothing between takes it for dead
)

// subprotocol is for browsers, which need one to be chosen of those they offer.
const subprotocol = "gatelatch"

// Serve takes the request over and runs fn with its connection, until fn is
// through, a message has more than most bytes, or ctx ends. What fn returns is
// told to the peer.
func Serve(ctx context.Context, w http.ResponseWriter, r *http.Request, most int64, fn func(context.Context, Conn) error) {
	c, err := websocket.Accept(w, r, &websocket.AcceptOptions{Subprotocols: []string{subprotocol}})
	if err != nil {
		return // it was answered
	}
	defer func() { _ = c.CloseNow() }()
	c.SetReadLimit(most)
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	s := &socket{c: c}
	var pings sync.WaitGroup
	pings.Go(func() { s.ping(ctx, stop) })
	err = fn(ctx, s)
	stopping := ctx.Err() != nil
	stop()
	pings.Wait()
	_ = c.Close(status(err, stopping))
}

// status says why a connection ends. The text is ours, and short.
func status(err error, stopping bool) (code websocket.StatusCode, text string) {
	switch {
	case stopping:
		return websocket.StatusGoingAway, "the gateway is stopping; come again"
	case err == nil:
		return websocket.StatusNormalClosure, ""
	}
	const most = 120
	if text = err.Error(); len(text) > most {
		text = text[:most]
	}
	return websocket.StatusPolicyViolation, string(bytes.ToValidUTF8([]byte(text), nil))
}

type socket struct {
	c    *websocket.Conn
	rest [][]byte // of a frame with several lines
}

// Read implements Conn. Each line of a text frame is a message.
func (s *socket) Read(ctx context.Context) ([]byte, error) {
	for {
		for len(s.rest) > 0 {
			line := bytes.TrimSpace(s.rest[0])
			if s.rest = s.rest[1:]; len(line) > 0 {
				return line, nil
			}
		}
		kind, data, err := s.c.Read(ctx)
		if err != nil {
			return nil, err
		}
		if kind != websocket.MessageText {
			return nil, errors.New("messages are text")
		}
		s.rest = bytes.Split(data, []byte("\n"))
	}
}

// Write implements Conn.
func (s *socket) Write(ctx context.Context, v any) error {
	raw, err := strictjson.Marshal(v)
	if err != nil {
		return err
	}
	ctx, stop := context.WithTimeout(ctx, writeTime)
	defer stop()
	return s.c.Write(ctx, websocket.MessageText, append(raw, '\n'))
}

func (s *socket) ping(ctx context.Context, dead func()) {
	tick := time.NewTicker(pingEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		ping, stop := context.WithTimeout(ctx, writeTime)
		err := s.c.Ping(ping)
		stop()
		if err != nil {
			dead()
			return
		}
	}
}
