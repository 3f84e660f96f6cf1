package apitest

import (
	"net/http/httptest"
	"strings"
	"testing"
)

const (
	batch   = `{"id": "bat_1", "phase": 1, "calls": []}`
	ask     = `{"session": {"id": "s"}, "message": "m", "calls": [{"tool": "Bash", "input": {"command": "ls"}}]}`
	problem = `{"type": "x", "title": "t", "status": 404, "detail": "d", "code": "not_found", "message": "d"}`
	event   = "retry: 1\n: open\n\nid: 1\nevent: call.judged\n" +
		`data: {"seq": 1, "at": "2026-11-15T12:00:00Z", "kind": "call.judged", "by": {"kind": "policy"}, "prev": "", "link": ""}` + "\n\n"
)

// What is not as described is noticed, and what is passes.
func TestCheck(t *testing.T) {
	t.Parallel()
	c, err := New()
	if err != nil {
		t.Fatal(err)
	}
	const json, stream, problems = "application/json", "text/event-stream", "application/problem+json"
	for name, tt := range map[string]struct {
		request, body string
		status        int
		kind, answer  string
		wrong         string
	}{
		"a good one":              {"POST /v1/batches", ask, 200, json, batch, ""},
		"one that waits":          {"POST /v1/batches", ask, 202, json, batch, ""},
		"a good problem":          {"GET /v1/batches/none", "", 404, problems, problem, ""},
		"a bad request, refused":  {"POST /v1/batches", "{", 400, problems, problem, ""},
		"a stream":                {"GET /v1/events?after=0", "", 200, stream, event, ""},
		"a stream that was cut":   {"GET /v1/events?after=0", "", 200, stream, event + "id: 2\ndata: {\"se", ""},
		"a resync":                {"GET /v1/events?after=9", "", 200, stream, "event: resync\ndata: {}\n\n", ""},
		"a file of the page":      {"GET /app.js", "", 200, "text/javascript", "1", ""},
		"nothing there":           {"GET /v1/none", "", 404, problems, problem, ""},
		"a field too many":        {"GET /v1/batches/b", "", 200, json, `{"id": "b", "phase": 1, "calls": [], "secret": 1}`, "additional properties"},
		"a field too few":         {"GET /v1/batches/b", "", 200, json, `{"id": "b", "calls": []}`, "phase"},
		"null for a list":         {"GET /v1/batches/b", "", 200, json, `{"id": "b", "phase": 1, "calls": null}`, "null"},
		"no JSON":                 {"GET /v1/batches/b", "", 200, json, `ok`, "invalid character"},
		"another type":            {"GET /v1/batches/b", "", 200, "text/plain", batch, "text/plain"},
		"a problem as JSON":       {"GET /v1/batches/b", "", 404, json, problem, "application/json"},
		"a code of nobody":        {"GET /v1/batches/b", "", 404, problems, strings.Replace(problem, "not_found", "gone", 1), "code"},
		"a status of nobody":      {"GET /v1/batches/b", "", 204, json, "{}", "status"},
		"a route of nobody":       {"GET /v1/none", "", 200, json, "{}", "not described"},
		"an unknown field, taken": {"POST /v1/batches", strings.Replace(ask, "{", `{"x": 1, `, 1), 200, json, batch, "the request"},
		"no body, taken":          {"POST /v1/batches", "", 200, json, batch, "the request"},
		"a body nobody wants":     {"GET /v1/batches/b", "{}", 200, json, batch, "the request"},
		"an unknown parameter":    {"GET /v1/grants?x=1", "", 200, json, `{"grants": []}`, "the request"},
		"a broken event":          {"GET /v1/events?after=0", "", 200, stream, strings.Replace(event, `"kind": "call.judged", `, "", 1), "kind"},
		"a broken stream":         {"GET /v1/events?after=0", "", 200, stream, "what: 1\n\n", "what"},
	} {
		method, target, _ := strings.Cut(tt.request, " ")
		err := c.Check(Exchange{httptest.NewRequest(method, target, nil), []byte(tt.body), tt.status, tt.kind, []byte(tt.answer)})
		switch {
		case tt.wrong == "" && err != nil:
			t.Errorf("%s: %v", name, err)
		case tt.wrong != "" && (err == nil || !strings.Contains(err.Error(), tt.wrong)):
			t.Errorf("%s is not noticed: %v", name, err)
		}
	}
}

// A connection is read as long as it is HTTP and whole.
func TestTalk(t *testing.T) {
	t.Parallel()
	c, err := New()
	if err != nil {
		t.Fatal(err)
	}
	const asked = "GET /healthz HTTP/1.1\r\nHost: h\r\n\r\n"
	const good = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}"
	const bad = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n[]"
	for name, tt := range map[string]struct {
		in, out string
		wrong   bool
	}{
		"one":              {asked, good, false},
		"two":              {asked + asked, good + good, false},
		"the second":       {asked + asked, good + bad, true},
		"no answer":        {asked, "", false},
		"half an answer":   {asked, bad[:len(bad)-1], false},
		"no longer HTTP":   {asked + "\x01\x02", good, false},
		"a socket instead": {asked, "HTTP/1.1 101 Switching Protocols\r\n\r\n\x81", false},
	} {
		if err := c.Talk([]byte(tt.in), []byte(tt.out)); (err != nil) != tt.wrong {
			t.Errorf("%s: %v", name, err)
		}
	}
}
