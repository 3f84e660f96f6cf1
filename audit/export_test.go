package audit

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gatelatch/gatelatch"
	"github.com/google/go-cmp/cmp"
)

// chained numbers and links events anew, from the first.
func chained(es []gatelatch.Event) []gatelatch.Event {
	var prev gatelatch.Sum
	for i := range es {
		es[i].Seq, es[i].Prev = gatelatch.Seq(i+1), prev
		es[i].Link = Link(es[i])
		prev = es[i].Link
	}
	return es
}

var words = []string{"", "mira", "Ærø", "<b>&\"\\", "a\nb\x00\u2028\U0001F600", "key_00000000000000000000000000", strings.Repeat("x", 300)}

func randomEvent(r *rand.Rand) gatelatch.Event {
	word := func() string { return words[r.IntN(len(words))] }
	e := gatelatch.Event{
		At: time.UnixMicro(r.Int64N(4e15)).UTC(), Kind: gatelatch.EventKind("call." + word()), Batch: word(), Call: word(),
		By: gatelatch.Actor{Kind: gatelatch.PersonActor, ID: word(), Name: word()},
	}
	if r.IntN(4) > 0 {
		e.Body, _ = json.Marshal(map[string]any{"state": word(), "n": r.IntN(9), "digest": gatelatch.SumOf([]byte(word()))})
	}
	return e
}

func randomTrail(r *rand.Rand, n int) []gatelatch.Event {
	es := make([]gatelatch.Event, n)
	for i := range es {
		es[i] = randomEvent(r)
	}
	return chained(es)
}

func export(t testing.TB, es []gatelatch.Event) []byte {
	t.Helper()
	var out []byte
	for _, e := range es {
		var err error
		if out, err = AppendLine(out, e); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// A line is what encoding/json reads as the same event.
func TestExportIsPlainJSON(t *testing.T) {
	es := randomTrail(rand.New(rand.NewPCG(1, 1)), 500)
	raw := export(t, es)
	i := 0
	var d decoder
	for line := range bytes.Lines(raw) {
		var plain gatelatch.Event
		if err := json.Unmarshal(line, &plain); err != nil {
			t.Fatal(err)
		}
		ours, err := d.event(bytes.TrimSuffix(line, []byte("\n")))
		if err != nil {
			t.Fatalf("%v in %s", err, line)
		}
		if diff := cmp.Diff(plain, ours) + cmp.Diff(es[i], ours); diff != "" {
			t.Fatal(diff)
		}
		i++
	}
	if report, err := Verify(bytes.NewReader(raw), nil); err != nil || report.Events != 500 || report.Link != es[499].Link || !report.First.Equal(es[0].At) || !report.Last.Equal(es[499].At) {
		t.Errorf("%+v, %v", report, err)
	}
}

// Trails on disk were linked so.
func TestLinkStays(t *testing.T) {
	e := gatelatch.Event{Seq: 7, At: time.UnixMicro(1772600767123456), Kind: gatelatch.CallDecided, By: gatelatch.Actor{Kind: gatelatch.PersonActor, ID: "key_1", Name: "mira"},
		Batch: "bat_1", Call: "cal_1", Body: []byte(`{"state":"denied"}`), Prev: gatelatch.SumOf(nil)}
	const want = "74426da77126c01941b804e99c2a630e4456559c929560c0ddc394eab06249dc"
	if got := Link(e).String(); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// Every event of the trail is linked inside the writer.
func TestLinkAllocatesNothing(t *testing.T) {
	e := randomTrail(rand.New(rand.NewPCG(1, 4)), 1)[0]
	if n := testing.AllocsPerRun(100, func() { Link(e) }); n != 0 {
		t.Errorf("got %v allocations", n)
	}
}

func TestVerifySaysWhere(t *testing.T) {
	es := randomTrail(rand.New(rand.NewPCG(1, 2)), 6)
	s := signer(t)
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	points := []Checkpoint{s.Sign(5, es[4].Link, at), s.Sign(2, es[1].Link, at)}
	lines := bytes.SplitAfter(export(t, es), []byte("\n"))
	rewritten := slices.Clone(es)
	rewritten[3].Kind = "call.forged"
	for name, tt := range map[string]struct {
		export []byte
		want   string
	}{
		"whole":         {bytes.Join(lines, nil), ""},
		"empty":         {nil, "the trail ends at event 0, but the checkpoint of 2026-01-02T03:04:05Z saw event 5"},
		"cut":           {bytes.Join(lines[:3], nil), "the trail ends at event 3, but the checkpoint of 2026-01-02T03:04:05Z saw event 5"},
		"cut in a line": {bytes.Join(lines, nil)[:len(lines[0])+9], "line 2: it ends in the middle"},
		"missing":       {bytes.Join([][]byte{lines[0], lines[2]}, nil), "line 2: event 3 follows 1"},
		"rewritten":     {export(t, chained(rewritten)), "line 5: event 5 is not the one that the checkpoint of 2026-01-02T03:04:05Z saw: something behind event 2 was rewritten"},
		"changed":       {bytes.Replace(bytes.Join(lines, nil), []byte(`"kind":"call.`), []byte(`"kind":"bell.`), 1), "line 1: event 1 was changed"},
		"another form":  {bytes.Replace(bytes.Join(lines, nil), []byte(`{"seq":4`), []byte(`{ "seq":4`), 1), "line 4: this is not a line of an export"},
		"no export":     {[]byte("hello\n"), "line 1: this is not a line of an export"},
	} {
		_, err := Verify(bytes.NewReader(tt.export), points)
		if got := fmt.Sprint(err); tt.want == "" && err != nil || !strings.Contains(got, tt.want) {
			t.Errorf("%s: got %v, want %q", name, err, tt.want)
		}
	}
}

func TestLongLines(t *testing.T) {
	es := chained([]gatelatch.Event{{Kind: "x", Body: []byte(`"` + strings.Repeat("a", 3<<20) + `"`)}, {Kind: "y"}})
	for i := range es {
		es[i].At = es[i].At.UTC()
	}
	if report, err := Verify(bytes.NewReader(export(t, es)), nil); err != nil || report.Events != 2 {
		t.Errorf("%+v, %v", report, err)
	}
}

// No gateway writes such events, so an export must not make them look right.
func TestUnwritableEvents(t *testing.T) {
	for name, e := range map[string]gatelatch.Event{
		"body":    {Body: []byte(`{"a":`)},
		"lines":   {Body: []byte("{\n}")},
		"text":    {Batch: "\xff"},
		"time":    {At: time.Date(20000, 1, 1, 0, 0, 0, 0, time.UTC)},
		"instant": {At: time.Unix(0, 1)},
	} {
		if line, err := AppendLine(nil, e); err == nil || len(line) > 0 {
			t.Errorf("%s: wrote %q", name, line)
		}
	}
}

// What is accepted is JSON that encoding/json reads as the same events.
func FuzzExport(f *testing.F) {
	f.Add([]byte("{}"))
	f.Add(export(f, chained([]gatelatch.Event{{Kind: "a"}, {Kind: "<b>", By: gatelatch.Actor{ID: "i", Name: "n"}, Batch: "b", Call: "c", Body: []byte(`{"x":1}`)}})))
	f.Fuzz(func(t *testing.T, data []byte) {
		p := piece{text: data, done: make(chan struct{})}
		p.decode()
		var out []byte
		for i, line := range bytes.SplitAfter(data, []byte("\n"))[:len(p.events)] {
			var plain gatelatch.Event
			if err := json.Unmarshal(line, &plain); err != nil || !cmp.Equal(plain, p.events[i]) {
				t.Fatalf("read %+v, encoding/json reads %+v, %v", p.events[i], plain, err)
			}
			var err error
			if out, err = AppendLine(out, plain); err != nil {
				t.Fatal(err)
			}
		}
		if !bytes.HasPrefix(data, out) || p.err == nil && len(out) != len(data) {
			t.Fatalf("%q was read as %q", data, out)
		}
	})
}

func BenchmarkVerify(b *testing.B) {
	const n = 20_000
	es := make([]gatelatch.Event, n)
	for i := range es {
		es[i] = gatelatch.Event{
			At: time.UnixMicro(1_700_000_000_000_000 + int64(i)*1237).UTC(), Kind: gatelatch.CallDecided, By: gatelatch.Actor{Kind: gatelatch.PersonActor, ID: "key_0123456789abcdefghjkmnpqrs", Name: "Mira Lind"},
			Batch: fmt.Sprintf("bat_%026d", i/2), Call: fmt.Sprintf("cal_%026d", i),
			Body: fmt.Appendf(nil, `{"state":"denied","digest":"%s","note":"not on a Friday"}`, gatelatch.SumOf(fmt.Append(nil, i))),
		}
	}
	raw := export(b, chained(es))
	b.SetBytes(int64(len(raw)))
	for b.Loop() {
		if _, err := Verify(bytes.NewReader(raw), nil); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N)*n/b.Elapsed().Seconds(), "events/s")
}
