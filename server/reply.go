package server

import (
	"bytes"
	"fmt"
	"net"
	"net/http"
	"time"
)

// reply is the http.ResponseWriter of a connection that net/http has let go of.
// The end of the connection is the end of the answer.
type reply struct {
	conn   net.Conn
	minor  int // of the client's HTTP/1
	status int // 0 when it was sent
	header http.Header
}

func (r *reply) begun() bool { return r.status == 0 }

// Header implements http.ResponseWriter.
func (r *reply) Header() http.Header {
	if r.header == nil {
		r.header = http.Header{}
		securityHeaders(r.header)
	}
	return r.header
}

// WriteHeader implements http.ResponseWriter. It is sent with the first Write.
func (r *reply) WriteHeader(status int) { r.status = status }

// Write implements http.ResponseWriter.
func (r *reply) Write(body []byte) (int, error) {
	if r.begun() {
		return r.conn.Write(body)
	}
	r.Header().Set("Connection", "close")
	r.Header().Set("Date", time.Now().UTC().Format(http.TimeFormat))
	var all bytes.Buffer
	fmt.Fprintf(&all, "HTTP/1.%d %d %s\r\n", r.minor, r.status, http.StatusText(r.status))
	_ = r.header.Write(&all)
	all.WriteString("\r\n")
	all.Write(body)
	r.status, r.header = 0, nil
	_, err := r.conn.Write(all.Bytes())
	return len(body), err
}

// SetWriteDeadline is for http.ResponseController.
func (r *reply) SetWriteDeadline(t time.Time) error { return r.conn.SetWriteDeadline(t) }
