package notify

import (
	"strings"
	"testing"
	"time"

	"github.com/gatelatch/gatelatch"
)

func TestConfigurationsThatCantBeMeant(t *testing.T) {
	hook := ChannelConfig{Type: "webhook", URL: "https://a.example/", Secret: whsec}
	for name, tt := range map[string]struct {
		cfg  Config
		want string
	}{
		"no type":          {one(ChannelConfig{}), "a type is one of"},
		"a foreign field":  {one(ChannelConfig{Type: "desktop", URL: "https://a.example"}), "url is nothing that a channel of type desktop takes"},
		"no TLS":           {one(ChannelConfig{Type: "webhook", URL: "http://a.example/", Secret: whsec}), "https://"},
		"a bad secret":     {one(ChannelConfig{Type: "webhook", URL: "https://a.example/", Secret: "hunter2"}), "whsec_"},
		"no topic":         {one(ChannelConfig{Type: "ntfy", URL: "https://ntfy.sh/"}), "TOPIC"},
		"nobody's buttons": {one(ChannelConfig{Type: "ntfy", URL: "https://ntfy.sh/x", Buttons: true}), "person"},
		"no recipient":     {one(ChannelConfig{Type: "email", Server: "m.example:587", From: "a@b.c"}), "whom"},
		"a clear password": {one(ChannelConfig{Type: "email", Server: "m.example:25", Security: "none", User: "u", Password: "p", From: "a@b.c", To: []string{"d@e.f"}}), "in the clear"},
		"a relative path":  {one(ChannelConfig{Type: "command", Path: "tell"}), "absolute"},
		"both secrets":     {one(ChannelConfig{Type: "webhook", URL: "https://a.example/", Secret: whsec, SecretFile: "/x"}), "not both"},
		"no such channel":  {Config{Rules: []RuleConfig{{To: []string{"x"}}}}, `no channel "x"`},
		"no such risk":     {Config{Rules: []RuleConfig{{Risk: []Risk{"huge"}}}}, "low, medium or high"},
		"a nagging rule":   {Config{Rules: []RuleConfig{{Remind: time.Second}}}, "a minute"},
		"a bad time":       {Config{Rules: []RuleConfig{{Quiet: "22-7"}}}, "time of day"},
		"a bad range":      {Config{Reach: []string{"localhost"}}, "range"},
	} {
		o := &Outbox{URL: "http://127.0.0.1:1", Public: "https://gate.example"}
		if err := tt.cfg.Configure(o); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", name, err, tt.want)
		}
	}
	o := &Outbox{URL: "http://127.0.0.1:1"}
	cfg := Config{Channels: map[string]ChannelConfig{"a": hook, "b": {Type: "desktop"}}, Rules: []RuleConfig{{Tool: "Bash", To: []string{"a"}, Remind: time.Hour, Quiet: "22:00-07:00"}}}
	if err := cfg.Configure(o); err != nil || len(o.Targets) != 2 || o.Rules[0].Reminders != 3 {
		t.Errorf("%+v, %v", o, err)
	}
	buttons := one(ChannelConfig{Type: "ntfy", URL: "https://ntfy.sh/x", Buttons: true, Person: "Mira"})
	if err := buttons.Configure(&Outbox{URL: "http://127.0.0.1:1"}); err == nil || !strings.Contains(err.Error(), "public_url") {
		t.Errorf("buttons that no phone reaches: %v", err)
	}
}

func one(c ChannelConfig) Config { return Config{Channels: map[string]ChannelConfig{"x": c}} }

func TestQuietHours(t *testing.T) {
	for _, tt := range []struct{ quiet, at, until string }{
		{"22:00-07:00", "23:30", "31:00"}, {"22:00-07:00", "06:59", "07:00"}, {"22:00-07:00", "07:00", "07:00"}, {"22:00-07:00", "21:59", "21:59"}, {"22:00-07:00", "22:00", "31:00"},
		{"12:00-13:00", "12:30", "13:00"}, {"12:00-13:00", "11:00", "11:00"}, {"12:00-13:00", "13:00", "13:00"}, {"", "03:00", "03:00"},
	} {
		q, err := ParseQuiet(tt.quiet)
		if err != nil {
			t.Fatal(err)
		}
		clock := func(s string) time.Time {
			h, m := int(s[0]-'0')*10+int(s[1]-'0'), int(s[3]-'0')*10+int(s[4]-'0')
			return time.Date(2026, 5, 1, h, m, 0, 0, time.UTC)
		}
		if got := q.until(clock(tt.at)); !got.Equal(clock(tt.until)) {
			t.Errorf("%s at %s: until %s, want %s", tt.quiet, tt.at, got, tt.until)
		}
	}
}

func TestLike(t *testing.T) {
	for _, tt := range []struct {
		pattern, s string
		want       bool
	}{
		{"Bash", "Bash", true}, {"Bash", "BashOutput", false}, {"mcp__*", "mcp__fs__read", true}, {"*", "", true}, {"*/shop", "/home/x/shop", true},
		{"*/shop", "/home/x/shop2", false}, {"a*b*c", "axxbyyc", true}, {"a*b*c", "acb", false}, {"a*a", "a", false},
	} {
		if like(tt.pattern, tt.s) != tt.want {
			t.Errorf("%s, %s", tt.pattern, tt.s)
		}
	}
}

func TestRisk(t *testing.T) {
	call := func(n *gatelatch.Needs) *gatelatch.Call {
		return &gatelatch.Call{Kind: gatelatch.Permission, Verdict: gatelatch.Verdict{Needs: n}}
	}
	touch := func(t gatelatch.Touch) *gatelatch.Needs {
		return &gatelatch.Needs{Type: gatelatch.NeedCommand, Touches: []gatelatch.Touch{t}}
	}
	for name, tt := range map[string]struct {
		call *gatelatch.Call
		want Risk
	}{
		"nothing known":      {call(nil), High},
		"an unknown tool":    {call(&gatelatch.Needs{Type: gatelatch.NeedAll}), High},
		"an unread command":  {call(&gatelatch.Needs{Type: gatelatch.NeedCommand}), High},
		"more than is told":  {call(&gatelatch.Needs{Type: gatelatch.NeedRead, More: 1}), High},
		"a read":             {call(&gatelatch.Needs{Type: gatelatch.NeedRead}), Low},
		"a write":            {call(&gatelatch.Needs{Type: gatelatch.NeedWrite}), Medium},
		"a read outside":     {call(touch(gatelatch.Touch{Does: "read", Outside: true})), Medium},
		"a secret":           {call(touch(gatelatch.Touch{Does: "read", Secret: true})), High},
		"a write outside":    {call(touch(gatelatch.Touch{Does: "write", Outside: true})), High},
		"something unknown":  {call(touch(gatelatch.Touch{Does: "unknown"})), High},
		"the network":        {call(touch(gatelatch.Touch{Does: "net"})), Medium},
		"a deletion":         {call(touch(gatelatch.Touch{Does: "delete"})), High},
		"a question, a plan": {&gatelatch.Call{Kind: gatelatch.Question}, Medium},
	} {
		if got := RiskOf(tt.call); got != tt.want {
			t.Errorf("%s: %s, want %s", name, got, tt.want)
		}
	}
}
