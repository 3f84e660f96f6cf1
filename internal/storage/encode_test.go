package storage

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/gatelatch/gatelatch"
)

// A body is what encoding/json would write, to the byte and to the error: sums
// of bodies that lie in databases must not depend on who wrote them.
func TestEncodeIsJSONMarshal(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		b := new(gatelatch.Batch)
		fill(t, reflect.ValueOf(b).Elem())
		same(t, b)
	})
}

func TestEncodeOfEmptyBatches(t *testing.T) {
	t.Parallel()
	for _, b := range []*gatelatch.Batch{nil, {}, {Calls: []*gatelatch.Call{}}, {Calls: []*gatelatch.Call{nil, {}}}} {
		same(t, b)
	}
}

func TestEncodeRefusesATimeThatHasNoJSON(t *testing.T) {
	t.Parallel()
	b := usual()
	b.Calls[0].Lapses = time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)
	same(t, b)
	if _, _, err := Encode(b); err == nil {
		t.Error("got no error")
	}
}

// Every letter by itself: a plain text is written as it is, the others as
// encoding/json escapes them.
func TestEncodeOfEveryLetter(t *testing.T) {
	t.Parallel()
	for r := range rune(0x3000) {
		same(t, &gatelatch.Batch{ID: string(r), Agent: string([]byte{byte(r)})})
	}
}

// The usual batch is encoded without growing.
func TestEncodeAllocatesOnce(t *testing.T) {
	b := usual()
	if n := testing.AllocsPerRun(100, func() { _, _ = encodeBatch(b) }); n != 1 {
		t.Errorf("got %v allocations, want 1", n)
	}
}

func same(t interface{ Fatalf(string, ...any) }, b *gatelatch.Batch) {
	want, wantErr := json.Marshal(b)
	got, sum, err := Encode(b)
	if fmt.Sprint(err) != fmt.Sprint(wantErr) || string(got) != string(want) {
		t.Fatalf("got\n%s, %v\nwant\n%s, %v", got, err, want, wantErr)
	}
	if h := gatelatch.SumOf(want); err == nil && string(sum) != string(h[:]) {
		t.Fatalf("got the sum %x, want %x", sum, h)
	}
}

var (
	texts = rapid.OneOf(rapid.Just(""), rapid.StringMatching(`[ -~]{1,12}`), rapid.String(), rapid.SampledFrom([]string{
		`"\`, "<script>&amp;</script>", "\x00\x1f\x7f\b\f\n\r\t", "\u2028\u2029\u0085\ufeff", "\xff\xc0\xaf", "\xed\xa0\x80",
		"ünï 漢字 🙂", "ends in a comma,", "ends open {", strings.Repeat("long ", 1000),
	}))
	times = rapid.Custom(func(t *rapid.T) time.Time {
		// Now and then one that JSON does not have: it fails the whole batch.
		latest := rapid.SampledFrom([]int64{1 << 32, 1 << 32, 1 << 32, 1 << 32, 1 << 32, 1 << 32, 1 << 32, 1 << 38}).Draw(t, "latest")
		at := time.Unix(rapid.Int64Range(-latest, latest).Draw(t, "seconds"), rapid.SampledFrom([]int64{0, 1, 1000, 123456000, 999999999}).Draw(t, "nanos"))
		zone := rapid.SampledFrom([]int{0, 0, 3600, -5*3600 - 1800, 61, 26 * 3600}).Draw(t, "zone")
		if zone == 0 {
			return at.UTC()
		}
		if zone > 24*3600 && latest < 1<<38 {
			return at.Local()
		}
		return at.In(time.FixedZone("", zone))
	})
)

// fill sets v, and everything that it leads to, to something.
func fill(t *rapid.T, v reflect.Value) {
	if _, ok := v.Interface().(time.Time); ok {
		if rapid.Bool().Draw(t, "sometime") {
			v.Set(reflect.ValueOf(times.Draw(t, "time")))
		}
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(texts.Draw(t, "text"))
	case reflect.Bool:
		v.SetBool(rapid.Bool().Draw(t, "bool"))
	case reflect.Int, reflect.Int64:
		v.SetInt(rapid.SampledFrom([]int64{0, 1, -1, 42, math.MaxInt64, math.MinInt64}).Draw(t, "int"))
	case reflect.Uint8:
		v.SetUint(uint64(rapid.Uint8Max(5).Draw(t, "byte")))
	case reflect.Struct:
		for f, field := range v.Fields() {
			if f.IsExported() {
				fill(t, field)
			}
		}
	case reflect.Pointer:
		if rapid.IntRange(0, 3).Draw(t, "there") > 0 {
			v.Set(reflect.New(v.Type().Elem()))
			fill(t, v.Elem())
		}
	case reflect.Array:
		if rapid.Bool().Draw(t, "zero") {
			reflect.Copy(v, reflect.ValueOf(rapid.SliceOfN(rapid.Byte(), v.Len(), v.Len()).Draw(t, "array")))
		}
	case reflect.Slice:
		if n := rapid.IntRange(-1, 3).Draw(t, "length"); n >= 0 {
			v.Set(reflect.MakeSlice(v.Type(), n, n))
			for i := range n {
				fill(t, v.Index(i))
			}
		}
	case reflect.Map:
		if n := rapid.IntRange(-1, 3).Draw(t, "size"); n >= 0 {
			v.Set(reflect.MakeMap(v.Type()))
			for range n {
				key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
				fill(t, key)
				fill(t, value)
				v.SetMapIndex(key, value)
			}
		}
	default:
		t.Fatalf("fill does not know %s", v.Type())
	}
}

// usual is a command that a person allowed.
func usual() *gatelatch.Batch {
	at := time.Date(2026, 3, 4, 5, 6, 7, 123456000, time.UTC)
	b := &gatelatch.Batch{ID: "bat_01jz4m4p5vxk8t2n6w3q7r9s0a", Agent: "key_01jz4m4p5vxk8t2n6w3q7r9s0b", AgentName: "claude", Created: at,
		Session: "0f6a3c52-5a8e-4d43-9c55-0d2b9f3c8a11", Message: "msg_01XbYcZdAeBfCgDhEiFjGkHl", Context: gatelatch.Context{Prompt: "push the branch, please"}}
	agent, person := gatelatch.Actor{Kind: gatelatch.AgentActor, ID: b.Agent}, gatelatch.Actor{Kind: gatelatch.PersonActor, ID: "key_01jz4m4p5vxk8t2n6w3q7r9s0c", Name: "mira"}
	c := &gatelatch.Call{ID: "cal_01jz4m4p5vxk8t2n6w3q7r9s0d", Ref: "toolu_01AbCdEfGhIjKlMnOpQrStUv", Kind: gatelatch.Permission, Tool: "Bash",
		Input: []byte(`{"command":"git push origin main"}`), Dir: "/home/mira/src/project"}
	b.Propose(c, agent, at)
	_ = b.Judge(c, gatelatch.Verdict{Effect: gatelatch.Ask, Policy: c.Digest.String(), Reasons: []gatelatch.Reason{
		{Effect: gatelatch.Ask, Layer: "default", Rule: "Bash(git push)", Message: "changes a service: git push", Field: "command", Part: "git push origin main", End: 20},
	}, Needs: &gatelatch.Needs{Type: gatelatch.NeedCommand, Signature: "git push", Info: []string{"net"}}}, at)
	_ = b.Decide(c.ID, gatelatch.Decision{State: gatelatch.Allowed, By: person, At: at.Add(time.Minute), Digest: c.Digest})
	return b
}

func BenchmarkEncode(b *testing.B) {
	batch := usual()
	for name, encode := range map[string]func() ([]byte, error){
		"generated":    func() ([]byte, error) { return encodeBatch(batch) },
		"json.Marshal": func() ([]byte, error) { return json.Marshal(batch) },
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				raw, err := encode()
				if err != nil {
					b.Fatal(err)
				}
				b.SetBytes(int64(len(raw)))
			}
		})
	}
}
