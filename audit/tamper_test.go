package audit

import (
	"bytes"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/gatelatch/gatelatch"
)

// SEC-53: whatever is done to an export, one checkpoint of its end shows it.
// GATELATCH_SOAK=10m makes it a campaign.
func TestSoakTampering(t *testing.T) {
	t.Parallel()
	most, until := 10_000, time.Now()
	if s := os.Getenv("GATELATCH_SOAK"); s != "" {
		length, err := time.ParseDuration(s)
		if err != nil {
			t.Fatal(err)
		}
		most, until = 100_000, until.Add(length)
	}
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 0))
	s := signer(t)
	done := map[string]int{}
	for n := 0; n < most || time.Now().Before(until); {
		es := randomTrail(r, 1+r.IntN(12))
		end := es[len(es)-1]
		points := []Checkpoint{s.Sign(end.Seq, end.Link, end.At)}
		whole := export(t, es)
		if _, err := Verify(bytes.NewReader(whole), points); err != nil {
			t.Fatalf("seed %d, %d: a good trail is refused: %v", seed, n, err)
		}
		for range 20 {
			name, bad := tamper(t, r, slices.Clone(es), whole)
			if bytes.Equal(bad, whole) {
				continue
			}
			n++
			done[name]++
			report, err := Verify(bytes.NewReader(bad), points)
			// What only goes on is how a trail grows: no checkpoint has seen that.
			if grown := bytes.HasPrefix(bad, whole) && report.Vouched == end.Seq && report.Seq > end.Seq; err == nil && !grown {
				t.Fatalf("seed %d, %d: %s was not found:\n%s\n%s", seed, n, name, whole, bad)
			}
		}
	}
	t.Log(done)
	if len(done) != 2*len(onEvents)+len(onBytes) {
		t.Errorf("not every kind of tampering was tried: %v", done)
	}
}

type change[T any] struct {
	name string
	do   func(r *rand.Rand, in T) T
}

// onEvents changes rows.
var onEvents = []change[[]gatelatch.Event]{
	{"edit a row", func(r *rand.Rand, es []gatelatch.Event) []gatelatch.Event { edit(r, &es[r.IntN(len(es))]); return es }},
	{"edit and link a row", func(r *rand.Rand, es []gatelatch.Event) []gatelatch.Event {
		e := &es[r.IntN(len(es))]
		edit(r, e)
		e.Link = Link(*e)
		return es
	}},
	{"delete a row", func(r *rand.Rand, es []gatelatch.Event) []gatelatch.Event {
		i := r.IntN(len(es))
		return slices.Delete(es, i, i+1)
	}},
	{"insert a row", func(r *rand.Rand, es []gatelatch.Event) []gatelatch.Event {
		return slices.Insert(es, r.IntN(len(es)+1), randomEvent(r))
	}},
	{"repeat a row", func(r *rand.Rand, es []gatelatch.Event) []gatelatch.Event {
		return slices.Insert(es, r.IntN(len(es)+1), es[r.IntN(len(es))])
	}},
	{"swap rows", func(r *rand.Rand, es []gatelatch.Event) []gatelatch.Event {
		i, j := r.IntN(len(es)), r.IntN(len(es))
		es[i], es[j] = es[j], es[i]
		return es
	}},
	{"truncate rows", func(r *rand.Rand, es []gatelatch.Event) []gatelatch.Event { return es[:r.IntN(len(es))] }},
}

// onBytes changes an export without a thought for what it means.
var onBytes = []change[[]byte]{
	{"change a byte", func(r *rand.Rand, b []byte) []byte { b[r.IntN(len(b))] = byte(r.IntN(256)); return b }},
	{"flip a bit", func(r *rand.Rand, b []byte) []byte { b[r.IntN(len(b))] ^= 1 << r.IntN(8); return b }},
	{"delete a byte", func(r *rand.Rand, b []byte) []byte { i := r.IntN(len(b)); return slices.Delete(b, i, i+1) }},
	{"insert a byte", func(r *rand.Rand, b []byte) []byte { return slices.Insert(b, r.IntN(len(b)+1), byte(r.IntN(256))) }},
	{"truncate bytes", func(r *rand.Rand, b []byte) []byte { return b[:r.IntN(len(b))] }},
	{"move bytes", func(r *rand.Rand, b []byte) []byte {
		i := r.IntN(len(b))
		return slices.Concat(b[i:], b[:i])
	}},
}

// tamper does one of all that to a trail, and returns the export of the result.
func tamper(t *testing.T, r *rand.Rand, es []gatelatch.Event, whole []byte) (name string, bad []byte) {
	t.Helper()
	i := r.IntN(len(onEvents)*2 + len(onBytes))
	if i < len(onBytes) {
		return onBytes[i].name, onBytes[i].do(r, bytes.Clone(whole))
	}
	i -= len(onBytes)
	c := onEvents[i/2]
	name, es = c.name, c.do(r, es)
	if i%2 == 1 {
		name, es = name+", then chain all anew", chained(es)
	}
	return name, export(t, es)
}

func edit(r *rand.Rand, e *gatelatch.Event) {
	other := randomEvent(r)
	switch r.IntN(11) {
	case 0:
		e.Seq += gatelatch.Seq(1 + r.IntN(3))
	case 1:
		e.At = e.At.Add(time.Duration(1+r.IntN(1000)) * time.Microsecond)
	case 2:
		e.Kind = other.Kind
	case 3:
		e.By.Kind = gatelatch.AgentActor
	case 4:
		e.By.ID = other.By.ID
	case 5:
		e.By.Name = other.By.Name
	case 6:
		e.Batch = other.Batch
	case 7:
		e.Call = other.Call
	case 8:
		e.Body = other.Body
	case 9:
		e.Prev[r.IntN(32)] ^= 1 << r.IntN(8)
	default:
		e.Link[r.IntN(32)] ^= 1 << r.IntN(8)
	}
}
