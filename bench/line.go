package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gatelatch/gatelatch/api"
	"github.com/gatelatch/gatelatch/internal/strictjson"
)

// line is a connection that stays open, with as little as possible on this
// side: what is timed is the gateway.
type line struct {
	conn net.Conn
	r    *bufio.Reader
}

func dial(network, addr string) (*line, error) {
	c, err := net.Dial(network, addr)
	if err != nil {
		return nil, err
	}
	return &line{c, bufio.NewReader(c)}, nil
}

// do sends a request and reads its answer, which must be 200 and say how long
// it is.
func (l *line) do(request []byte) ([]byte, error) {
	if _, err := l.conn.Write(request); err != nil {
		return nil, err
	}
	first, err := l.r.ReadString('\n')
	if err != nil {
		return nil, err
	}
	length := -1
	for {
		head, err := l.r.ReadSlice('\n')
		if err != nil {
			return nil, err
		}
		if head = bytes.TrimSpace(head); len(head) == 0 {
			break
		}
		if n, is := bytes.CutPrefix(head, []byte("Content-Length: ")); is {
			if length, err = strconv.Atoi(string(n)); err != nil {
				return nil, err
			}
		}
	}
	if length < 0 {
		return nil, fmt.Errorf("answered %q, and not how long", first)
	}
	body := make([]byte, length)
	_, err = io.ReadFull(l.r, body)
	if err == nil && !strings.HasPrefix(first, "HTTP/1.1 200 ") {
		err = fmt.Errorf("answered %q: %s", first, body)
	}
	return body, err
}

// proposals are requests of an agent whose calls policy allows: judged, opened,
// consumed and durable when they are answered. They differ in a number.
type proposals struct {
	text []byte
	gaps []int
}

const noNumber = "00000000"

func settledProposals(d doors, host, project string) (p proposals) {
	body, _ := strictjson.Marshal(api.Proposal{
		Session: api.Session{ID: "bench", Project: project},
		Message: "m" + noNumber,
		Hold:    api.Hold{Holder: "holder-" + noNumber, Consume: true},
		Calls:   []api.ProposedCall{{Ref: "c" + noNumber, Kind: "permission", Tool: "Bash", Dir: project, Input: []byte(`{"command":"pwd"}`)}},
	})
	p.text = fmt.Appendf(nil, "POST /v1/batches HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
		host, d.agentKey, len(body), body)
	for from := 0; ; {
		i := bytes.Index(p.text[from:], []byte(noNumber))
		if i < 0 {
			return p
		}
		p.gaps = append(p.gaps, from+i)
		from += i + len(noNumber)
	}
}

func (p proposals) number(i int) []byte {
	out, number := slices.Clone(p.text), fmt.Appendf(nil, "%0*d", len(noNumber), i)
	for _, at := range p.gaps {
		copy(out[at:], number)
	}
	return out
}

// openLoop sends n things at a steady rate over so many lines, whether or not the
// ones before are through. A duration begins when its turn had come: waiting
// for a free line counts.
func openLoop(lines, n, perSecond int, do func(line, i int) error) (sample, error) {
	type turn struct {
		i  int
		at time.Time
	}
	turns := make(chan turn, n)
	out := make(sample, n)
	errs := make([]error, lines)
	var all sync.WaitGroup
	for k := range lines {
		all.Go(func() {
			for t := range turns {
				if errs[k] == nil {
					errs[k] = do(k, t.i)
				}
				out[t.i] = time.Since(t.at)
			}
		})
	}
	begin := time.Now()
	for i := range n {
		time.Sleep(time.Until(begin.Add(time.Duration(i) * time.Second / time.Duration(perSecond))))
		turns <- turn{i, time.Now()}
	}
	close(turns)
	all.Wait()
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	slices.Sort(out)
	return out, nil
}
