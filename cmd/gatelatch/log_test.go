package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/api"
)

func logged(t *testing.T, opt gatewayOptions, args ...string) []string {
	t.Helper()
	out, err := command(t, opt, append([]string{"log"}, args...)...)
	if err != nil {
		t.Fatalf("log %v: %v", args, err)
	}
	if out == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(out, "\n"), "\n")
}

func TestLog(t *testing.T) {
	opt := testGateway(t)
	first, second := ask(t, opt, "m1", "git push"), ask(t, opt, "m2", "reboot")
	if _, err := command(t, opt, "deny", second.Calls[0].ID, "--note", "no\x1b[31m\nstate=allowed \u202e"); err != nil {
		t.Fatal(err)
	}
	call := second.Calls[0].ID
	for name, tt := range map[string]struct {
		args []string
		want []string // a part of each line
	}{
		"the last":           {[]string{"-n", "2"}, []string{"call.judged", "call.decided"}},
		"a kind":             {[]string{"--kind", "call.proposed"}, []string{first.Calls[0].ID[:12], second.Calls[0].ID[:12]}},
		"all of a kind":      {[]string{"--kind", "call", "-n", "1"}, []string{"call.decided"}},
		"two kinds":          {[]string{"--kind", "key.created,call.decided"}, []string{"key.created", "key.created", "denied"}},
		"a kind that is not": {[]string{"--kind", "cal"}, nil},
		"a call":             {[]string{"--call", call}, []string{"call.proposed", "call.judged", "denied"}},
		"a call, in short":   {[]string{"--call", call[4:12]}, []string{"call.proposed", "call.judged", "denied"}},
		"a batch":            {[]string{"--batch", first.ID}, []string{"call.proposed", "call.judged"}},
		"who":                {[]string{"--by", "person"}, []string{"denied"}},
		"who, by rule":       {[]string{"--by", "policy", "--call", call}, []string{"call.judged"}},
		"since":              {[]string{"--since", "1h", "--by", "person"}, []string{"denied"}},
		"since tomorrow":     {[]string{"--since", time.Now().Add(24 * time.Hour).Format(time.RFC3339)}, nil},
		"all":                {[]string{"-n", "0", "--kind", "call.judged"}, []string{"ask", "ask"}},
	} {
		got := logged(t, opt, tt.args...)
		if len(got) != len(tt.want) {
			t.Errorf("%s: got %q, want %d lines", name, got, len(tt.want))
			continue
		}
		for i, want := range tt.want {
			if !strings.Contains(got[i], want) {
				t.Errorf("%s: line %d is %q, want %q in it", name, i, got[i], want)
			}
		}
	}
	if got := logged(t, opt, "-n", "1"); strings.ContainsAny(got[0], "\x1b\u202e") || !strings.Contains(got[0], `note="no⟨ESC⟩[31m⟨LF⟩state=allowed ⟨U+202E⟩"`) {
		t.Errorf("a person's text is not escaped: %q", got)
	}
	for _, args := range [][]string{{"-n", "-1"}, {"--since", "yesterday"}, {"--since", "-1h"}} {
		if out, err := command(t, opt, append([]string{"log"}, args...)...); err == nil {
			t.Errorf("%v: %q", args, out)
		}
	}
}

// With a filter the last ones may lie far from the end.
func TestLogLooksFarBack(t *testing.T) {
	opt := testGateway(t)
	for i := range 120 {
		ask(t, opt, fmt.Sprint("m", i), "git push")
	}
	all := logged(t, opt, "-n", "0", "--json")
	if len(all) < 240 {
		t.Fatalf("only %d events", len(all))
	}
	if got := logged(t, opt, "--json", "-n", "170"); strings.Join(got, "\n") != strings.Join(all[len(all)-170:], "\n") {
		t.Errorf("the last 170 are not those of all")
	}
	if got := logged(t, opt, "--kind", "key"); len(got) != 2 {
		t.Errorf("%q", got)
	}
	var half gatelatch.Event
	if err := json.Unmarshal([]byte(all[120]), &half); err != nil {
		t.Fatal(err)
	}
	got := logged(t, opt, "--json", "--since", half.At.Format(time.RFC3339Nano))
	var first gatelatch.Event
	if err := json.Unmarshal([]byte(got[0]), &first); err != nil || first.At.Before(half.At) || len(got) < len(all)-120 || len(got) > len(all)-118 {
		t.Errorf("since event %d: %d of %d, from %d, %v", half.Seq, len(got), len(all), first.Seq, err)
	}
}

func TestLogFollows(t *testing.T) {
	opt := testGateway(t)
	ctx, stop := context.WithCancel(t.Context())
	r, w := io.Pipe()
	done := make(chan error, 1)
	go func() {
		root := newRootCmd()
		root.SetOut(w)
		root.SetArgs([]string{"log", "--follow", "--kind", "call.proposed,key", "--state", string(opt.state)})
		done <- root.ExecuteContext(ctx)
	}()
	lines := bufio.NewScanner(r)
	for range 2 { // what was there: two keys
		if !lines.Scan() || !strings.Contains(lines.Text(), "key.created") {
			t.Fatalf("%q, %v", lines.Text(), lines.Err())
		}
	}
	for i := range 3 {
		b := ask(t, opt, fmt.Sprint("m", i), "git push")
		if !lines.Scan() || !strings.Contains(lines.Text(), b.Calls[0].ID[:12]) {
			t.Fatalf("%q, %v", lines.Text(), lines.Err())
		}
	}
	stop()
	if err := <-done; err != nil {
		t.Errorf("interrupted: %v", err)
	}
}

// Kinds and members that this version does not know show as well.
func TestLogLineOfAnyEvent(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.Local)
	for want, e := range map[string]api.Event{
		"2026-01-02 03:04:05  mira                  grant.made       bat_0123456789  active hours=8 tool=Bash": {At: at, Kind: "grant.made", By: api.Actor{Kind: "person", ID: "k", Name: "mira"}, Batch: "bat_0123456789abc",
			Body: json.RawMessage(`{"tool":"Bash","state":"active","hours":8,"digest":"` + gatelatch.SumOf(nil).String() + `","deep":{"x":1},"empty":""}`)},
		"2026-01-02 03:04:05  policy ⟨ESC⟩c         x⟨LF⟩y           c⟨CR⟩":                   {At: at, Kind: "x\ny", By: api.Actor{Kind: "policy", Name: "\x1bc"}, Call: "c\r"},
		"2026-01-02 03:04:05  agent key_0123456789  batch.opened     -               ⟨ESC⟩=1": {At: at, Kind: "batch.opened", By: api.Actor{Kind: "agent", ID: "key_0123456789abc"}, Body: json.RawMessage(`{"\u001b":1}`)},
		"2026-01-02 03:04:05  clock                 x                -               [1⟨LF⟩]": {At: at, Kind: "x", By: api.Actor{Kind: "clock"}, Body: json.RawMessage("[1\n]")},
	} {
		if got := logLine(e); got != want {
			t.Errorf("got\n%q, want\n%q", got, want)
		}
	}
}
