package client

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/gatelatch/gatelatch/api"
)

// The client speaks HTTP/1.0 by hand: one request, one answer, the connection
// ends. net/http would double what the hook needs to start.

// response is an answer whose body is still to be read.
type response struct {
	status int
	body   io.Reader
	close  func()
}

// roundTrip sends one request over a fresh connection. The connection ends
// with ctx.
func (c *Client) roundTrip(ctx context.Context, method, path string, body []byte) (_ *response, err error) {
	conn, err := c.dial(ctx)
	if err != nil {
		return nil, err
	}
	// Ends a read or write that is under way.
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	end := func() { stop(); _ = conn.Close() }
	defer func() {
		if err != nil {
			end()
		}
	}()
	_, unsent := conn.Write(c.request(method, path, body))
	r := bufio.NewReader(conn)
	status, err := readHead(r)
	switch {
	case unsent != nil && (err != nil || status < statusRefused): // else who stopped listening says why
		return nil, unsent
	case err != nil:
		return nil, err
	}
	return &response{status: status, body: r, close: end}, nil
}

func (c *Client) dial(ctx context.Context) (net.Conn, error) {
	// The address is looked up each time: a gateway that came back may have
	// moved. The key goes nowhere else.
	g, err := c.dir.Gateway()
	if err != nil {
		return nil, err
	}
	return new(net.Dialer).DialContext(ctx, "unix", c.socket(g))
}

func (c *Client) request(method, path string, body []byte) []byte {
	var b []byte
	b = fmt.Appendf(b, "%s %s HTTP/1.0\r\nHost: %s\r\nAuthorization: Bearer %s\r\n", method, path, api.SocketHost, c.key)
	if body != nil {
		b = fmt.Appendf(b, "Content-Type: application/json\r\nContent-Length: %d\r\n", len(body))
	}
	b = append(b, "\r\n"...)
	return append(b, body...)
}

// readHead reads the status line and passes over the headers: without
// keep-alive and chunks none of them matters.
func readHead(r *bufio.Reader) (status int, err error) {
	line, err := readLine(r)
	if err != nil {
		return 0, err
	}
	proto, rest, _ := strings.Cut(line, " ")
	code, _, _ := strings.Cut(rest, " ")
	if status, err = strconv.Atoi(code); err != nil || len(code) != 3 || !strings.HasPrefix(proto, "HTTP/1.") {
		return 0, errors.New("this is not a gateway's answer")
	}
	for {
		line, err := readLine(r)
		if err != nil {
			return 0, err
		}
		if line == "" {
			return status, nil
		}
	}
}

func readLine(r *bufio.Reader) (string, error) {
	line, err := r.ReadSlice('\n') // bounded by the buffer
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return strings.TrimRight(string(line), "\r\n"), err
}
