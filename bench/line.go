package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
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

// do sends a request and reads its answer, which must be 200 and have a text.
func (l *line) do(request []byte) ([]byte, error) {
	if _, err := l.conn.Write(request); err != nil {
		return nil, err
	}
	res, err := http.ReadResponse(l.r, nil)
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(res.Body)
	if err == nil && res.StatusCode != http.StatusOK {
		err = fmt.Errorf("answered %s: %s", res.Status, body)
	}
	return body, err
}

// settledProposal is the request of an agent whose call policy allows: judged,
// opened, consumed and durable when it is answered.
func settledProposal(d doors, host, project string, i int) []byte {
	body, _ := strictjson.Marshal(api.Proposal{
		Session: api.Session{ID: "bench", Project: project},
		Message: fmt.Sprintf("m%08d", i),
		Hold:    api.Hold{Holder: fmt.Sprintf("holder-%08d", i), Consume: true},
		Calls: []api.ProposedCall{{
			Ref: fmt.Sprintf("c%08d", i), Kind: "permission", Tool: "Bash", Dir: project, Input: []byte(`{"command":"pwd"}`),
		}},
	})
	return fmt.Appendf(nil, "POST /v1/batches HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
		host, d.agentKey, len(body), body)
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
