//go:build tap

package tap

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// most is how much of an answer is kept: a stream may have no end.
const most = 4 << 20

// Handler notes each exchange of the API when it is over.
func Handler(h http.Handler) http.Handler {
	dir := os.Getenv(Dir)
	if dir == "" {
		return h
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasPrefix(r.URL.Path, "/v1/") && r.URL.Path != "/healthz" {
			h.ServeHTTP(w, r)
			return
		}
		rec := &recorder{ResponseWriter: w, dir: dir, e: Exchange{Method: r.Method, Target: r.URL.RequestURI()}}
		asked := *r
		asked.Body = struct {
			io.Reader
			io.Closer
		}{io.TeeReader(r.Body, &rec.asked), r.Body}
		h.ServeHTTP(rec, &asked)
		if !rec.hijacked {
			rec.e.Type = w.Header().Get("Content-Type")
			rec.save()
		}
	})
}

type recorder struct {
	http.ResponseWriter
	dir           string
	e             Exchange
	asked, answer bytes.Buffer
	hijacked      bool
}

func (r *recorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }

func (r *recorder) Flush() { _ = http.NewResponseController(r.ResponseWriter).Flush() }

func (r *recorder) WriteHeader(status int) {
	if r.e.Status == 0 {
		r.e.Status = status
	}
	r.ResponseWriter.WriteHeader(status)
}

func (r *recorder) Write(p []byte) (int, error) {
	if r.e.Status == 0 {
		r.e.Status = http.StatusOK
	}
	r.answer.Write(p)
	return r.ResponseWriter.Write(p)
}

func (r *recorder) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, rw, err := http.NewResponseController(r.ResponseWriter).Hijack()
	if err != nil {
		return nil, nil, err
	}
	r.hijacked = true
	t := &tapped{Conn: conn, r: r}
	t.end = sync.OnceFunc(t.ended)
	return t, rw, nil
}

// tapped is a connection that a waiting request is answered on.
type tapped struct {
	net.Conn
	r   *recorder
	end func()
}

func (t *tapped) Write(p []byte) (int, error) {
	n, err := t.Conn.Write(p)
	if t.r.answer.Len() < most {
		t.r.answer.Write(p[:n])
	}
	return n, err
}

func (t *tapped) Close() error {
	t.end()
	return t.Conn.Close()
}

// ended notes what was written by hand. Nothing was, if the client had gone.
func (t *tapped) ended() {
	a, err := http.ReadResponse(bufio.NewReader(&t.r.answer), nil)
	if err != nil {
		return
	}
	raw, err := io.ReadAll(a.Body)
	_ = a.Body.Close()
	if errors.Is(err, io.ErrUnexpectedEOF) { // cut off
		return
	}
	t.r.e.Status, t.r.e.Type, t.r.answer = a.StatusCode, a.Header.Get("Content-Type"), *bytes.NewBuffer(raw)
	t.r.save()
}

// save writes a file in one step: who is killed leaves no half of it.
func (r *recorder) save() {
	r.e.Body, r.e.Answer = r.asked.Bytes(), r.answer.Bytes()
	raw, err := json.Marshal(r.e)
	if err != nil {
		panic(err)
	}
	f, err := os.CreateTemp(r.dir, "*.tmp")
	if err != nil {
		panic(err)
	}
	_, err = f.Write(raw)
	if err = errors.Join(err, f.Close(), os.Rename(f.Name(), strings.TrimSuffix(f.Name(), filepath.Ext(f.Name()))+".json")); err != nil {
		panic(err)
	}
}
