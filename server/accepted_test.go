package server

import (
	"bytes"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gatelatch/gatelatch/api"
)

// deadlined notes what is written, and the deadline that it gets.
type deadlined struct {
	net.Conn
	bytes.Buffer
	at time.Time
}

func (d *deadlined) Write(b []byte) (int, error)        { return d.Buffer.Write(b) }
func (d *deadlined) Read(b []byte) (int, error)         { return d.Buffer.Read(b) }
func (d *deadlined) SetWriteDeadline(t time.Time) error { d.at = t; return nil }

func TestAnswerAfterALongWaitHasItsOwnDeadline(t *testing.T) {
	conn := &deadlined{}
	before := time.Now()
	answer(&reply{conn: conn, status: http.StatusOK}, http.StatusAccepted, api.None{})
	if !strings.HasPrefix(conn.String(), "HTTP/1.0 202 Accepted\r\n") || conn.at.Before(before.Add(writeLimit)) {
		t.Errorf("%q, deadline %v", conn.String(), conn.at)
	}
}
