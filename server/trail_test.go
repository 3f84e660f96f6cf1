package server_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/api"
	"github.com/gatelatch/gatelatch/audit"
	"github.com/gatelatch/gatelatch/internal/strictjson"
)

// SEC-53: what the API gives is the chain as it is stored, in parts of any size.
func TestTrailComesWholeAndInParts(t *testing.T) {
	w := newWorld(t)
	for i := range 5 {
		w.propose(fmt.Sprint("m", i), "echo '<a> && b'")
	}
	for _, limit := range []int{1, 3, 1000} {
		v := audit.NewVerifier(nil)
		for after, end := int64(0), int64(1); after < end; {
			var part api.Trail
			decode(t, send(w.tcp, w.as(w.request("GET", fmt.Sprintf("/v1/trail?after=%d&limit=%d", after, limit), nil), "command")), http.StatusOK, &part)
			if len(part.Events) == 0 || len(part.Events) > limit {
				t.Fatalf("%d events behind %d of %d", len(part.Events), after, part.Seq)
			}
			for _, x := range part.Events {
				e, err := x.Domain()
				if err != nil {
					t.Fatal(err)
				}
				if err := v.Next(e); err != nil {
					t.Fatal(err)
				}
			}
			after, end = part.Events[len(part.Events)-1].Seq, part.Seq
		}
		if r := v.Report(); r.Events < 10 {
			t.Errorf("%+v", r)
		}
	}
}

func TestTrailQueries(t *testing.T) {
	w := newWorld(t)
	for query, ok := range map[string]bool{
		"": true, "?after=0": true, "?limit=1000": true, "?after=99999999": true,
		"?after=-1": false, "?after=x": false, "?limit=0": false, "?limit=1001": false, "?limit=": false, "?after=1&after=2": false, "?x=1": false,
	} {
		res := send(w.tcp, w.as(w.request("GET", "/v1/trail"+query, nil), "command"))
		if (res.Code == http.StatusOK) != ok || !ok && codeOf(res) != "invalid" {
			t.Errorf("%q: %d %s", query, res.Code, res.Body)
		}
		if ok && strings.Contains(res.Body.String(), `"events":null`) {
			t.Errorf("%q: %s", query, res.Body)
		}
	}
}

// A damaged row goes over the wire and still looks damaged there.
func TestDamagedEventsStayDamaged(t *testing.T) {
	for name, damage := range map[string]func(*gatelatch.Event){
		"not JSON":   func(e *gatelatch.Event) { e.Body = []byte(`{"state":`) },
		"spaced":     func(e *gatelatch.Event) { e.Body = []byte(`{"state": "denied"}`) },
		"two lines":  func(e *gatelatch.Event) { e.Body = []byte("{\"state\":\"denied\"}\n") },
		"no body":    func(e *gatelatch.Event) { e.Body = nil },
		"a far time": func(e *gatelatch.Event) { e.At = time.UnixMicro(1 << 62) },
		"not text":   func(e *gatelatch.Event) { e.By.Name = "\xff" },
	} {
		e := gatelatch.Event{Seq: 1, At: time.UnixMicro(1).UTC(), Kind: "x", Body: []byte(`{"state":"denied"}`)}
		e.Link = audit.Link(e)
		damage(&e)
		raw, err := strictjson.Marshal(api.FromEvent(e))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var x api.Event
		if err := strictjson.Unmarshal(raw, &x); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		got, err := x.Domain()
		if err == nil {
			err = audit.NewVerifier(nil).Next(got)
		}
		if err == nil {
			t.Errorf("%s: looks whole at the other end: %s", name, raw)
		}
	}
}
