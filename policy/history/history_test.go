package history

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/policy"
)

func rules(t rapid.TB, text string) *policy.Set {
	t.Helper()
	s, err := policy.Parse("policy.yaml", []byte("version: 1\n"+text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return s
}

// record returns a call that a person was asked about, with the answer.
func record(tool, field, value string, state gatelatch.State) Record {
	input, _ := json.Marshal(map[string]string{field: value})
	return Record{
		Call: "cal_x", Kind: gatelatch.Permission, Tool: tool, Input: input, Dir: "/srv/app", Project: "/srv/app",
		Effect: gatelatch.Ask, State: state, By: string(gatelatch.PersonActor),
	}
}

func allowed(command string) Record { return record("Bash", "command", command, gatelatch.Allowed) }
func denied(command string) Record  { return record("Bash", "command", command, gatelatch.Denied) }

func of(rs ...Record) Source {
	return func(yield func(Record, error) bool) {
		for _, r := range rs {
			if !yield(r, nil) {
				return
			}
		}
	}
}

func times(n int, r Record) []Record { return slices.Repeat([]Record{r}, n) }

func TestWrittenHistoryReadsBack(t *testing.T) {
	t.Parallel()
	want := allowed("echo '<&>' \u2028 \x1b")
	want.Input = json.RawMessage(`{"command":"a<b&c","n":9007199254740993}`)
	var b bytes.Buffer
	for range 3 {
		if err := Write(&b, want); err != nil {
			t.Fatal(err)
		}
	}
	src := Read(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(b.Bytes())), nil })
	for range 2 { // it can be read again
		n := 0
		for got, err := range src {
			if err != nil || string(got.Input) != string(want.Input) || got.State != want.State || got.Effect != want.Effect {
				t.Fatalf("%+v, %v", got, err)
			}
			n++
		}
		if n != 3 {
			t.Errorf("read %d records", n)
		}
	}
}

func TestReadRefusesWhatIsNoHistory(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"no JSON":         "hello\n",
		"another object":  `{"a":1}` + "\n",
		"a name twice":    `{"call":"c","call":"d","at":"2026-01-01T00:00:00Z","kind":"permission","tool":"Bash","input":{},"effect":"ask","state":"denied","by":"person"}` + "\n",
		"nothing settled": `{"call":"c","at":"2026-01-01T00:00:00Z","kind":"permission","tool":"Bash","input":{},"effect":"ask","state":"pending","by":"person"}` + "\n",
		"no effect":       `{"call":"c","at":"2026-01-01T00:00:00Z","kind":"permission","tool":"Bash","input":{},"effect":"perhaps","state":"denied","by":"person"}` + "\n",
	} {
		src := Read(func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(text)), nil })
		_, err := Backtest(t.Context(), policy.Default(), src, nil)
		if err == nil || !strings.HasPrefix(err.Error(), "line 1: ") {
			t.Errorf("%s: %v", name, err)
		}
	}
	broken := errors.New("no disk")
	if _, err := Backtest(t.Context(), policy.Default(), Read(func() (io.ReadCloser, error) { return nil, broken }), nil); !errors.Is(err, broken) {
		t.Errorf("%v", err)
	}
}

func TestBacktestCounts(t *testing.T) {
	t.Parallel()
	byRule := allowed("pwd")
	byRule.Effect, byRule.By = gatelatch.Allow, string(gatelatch.PolicyActor)
	byGrant := allowed("git push origin main")
	byGrant.Effect, byGrant.By, byGrant.Grant = gatelatch.Allow, string(gatelatch.PolicyActor), "Bash(git push origin main)"
	byDeny := denied("rm x")
	byDeny.Effect, byDeny.By = gatelatch.Deny, string(gatelatch.PolicyActor)
	byPause := denied("git status")
	byPause.By = ByPause
	src := of(slices.Concat(times(700, allowed("git status")), times(3, denied("git push -f")), times(5, allowed("make deploy")),
		times(2, byRule), times(4, byGrant), times(6, byDeny), times(1, byPause))...)

	set := rules(t, "allow: [Bash(git status), 'Bash(git push:*)', 'Bash(rm:*)']\ndeny: ['Bash(make deploy:*)']\n")
	told := 0
	res, err := Backtest(t.Context(), set, src, func(n int) { told = n })
	if err != nil {
		t.Fatal(err)
	}
	got := [...]int{res.Calls, res.AsksBefore, res.AsksAfter, res.Vanish, res.New, res.Opened.Count, res.Closed.Count, res.Loosened.Count}
	if want := [...]int{721, 709, 2, 709, 2, 3, 5, 6}; got != want {
		t.Errorf("got  %v\nwant %v", got, want)
	}
	if res.Safe() || len(res.Opened.First) != 3 || res.Opened.First[0].Verdict.Reasons[0].Rule != "Bash(git push:*)" {
		t.Errorf("%+v", res.Opened)
	}
	if told != 0 {
		t.Errorf("told of %d, before there were a thousand", told)
	}
}

// What was refused and taken back counts as refused, whoever owns the pause.
func TestWhoRefused(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		state gatelatch.State
		by    string
		want  bool
	}{
		{gatelatch.Denied, "person", true}, {gatelatch.Revoked, "person", true}, {gatelatch.Denied, ByPause, false},
		{gatelatch.Denied, "policy", false}, {gatelatch.Expired, "clock", false}, {gatelatch.Allowed, "person", false},
	} {
		if got := (&Record{State: tt.state, By: tt.by}).Refused(); got != tt.want {
			t.Errorf("%s by %s: refused is %v", tt.state, tt.by, got)
		}
	}
}

func TestBacktestEndsWithItsContext(t *testing.T) {
	t.Parallel()
	endless := func(yield func(Record, error) bool) {
		for yield(allowed("git status"), nil) {
		}
	}
	ctx, stop := context.WithCancel(t.Context())
	_, err := Backtest(ctx, policy.Default(), endless, func(int) { stop() })
	if !errors.Is(err, ctx.Err()) || err == nil {
		t.Errorf("%v", err)
	}
}

// A hundred thousand calls in less than ten seconds, on two cores: read from an
// export, no two alike, by two hundred rules.
func BenchmarkBacktest(b *testing.B) {
	const calls = 100_000
	set := rules(b, benchRules())
	var file bytes.Buffer
	for i := range calls {
		if err := Write(&file, varied(i)); err != nil {
			b.Fatal(err)
		}
	}
	src := Read(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(file.Bytes())), nil })
	for b.Loop() {
		if res, err := Backtest(b.Context(), set, src, nil); err != nil || res.Calls != calls {
			b.Fatal(res, err)
		}
	}
	b.ReportMetric(calls*float64(b.N)/b.Elapsed().Seconds(), "calls/s")
}

func varied(i int) Record {
	n := fmt.Sprint(i)
	switch i % 8 {
	case 0:
		return allowed("git status -s d" + n)
	case 1:
		return allowed("npm run test -- --watch=false --shard=" + n)
	case 2:
		return denied("git push -f origin branch-" + n)
	case 3:
		return allowed("go test ./pkg" + n + "/... 2>&1 | tail -n 20")
	case 4:
		return record("Read", "file_path", "/srv/app/src/server/file"+n+".go", gatelatch.Allowed)
	case 5:
		return record("Edit", "file_path", "/srv/app/src/server/file"+n+".go", gatelatch.Allowed)
	case 6:
		return record("WebFetch", "url", "https://docs.example.com/"+n, gatelatch.Allowed)
	}
	return record("mcp__github__create_issue", "title", "a/b "+n, gatelatch.Allowed)
}

func benchRules() string {
	var s strings.Builder
	s.WriteString("allow: [Read(./**)]\nask:\n")
	for i := range 100 {
		fmt.Fprintf(&s, "  - Bash(tool%d sub:*)\n  - Edit(/srv/other%d/**)\n", i, i)
	}
	return s.String()
}
