package notify

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/netip"
	"slices"
	"time"
)

// Config is the section "notify" of config.yaml; see docs/notify.md.
type Config struct {
	Channels map[string]ChannelConfig `yaml:"channels"`
	// Rules say who is told of which calls, and when; without any, every
	// channel is told of every call at once.
	Rules []RuleConfig `yaml:"rules"`
	// PageDelay is how long a call waits before channels are told while
	// somebody looks at the page.
	PageDelay time.Duration `yaml:"page_delay"`
	// Reach lists addresses of this machine or its cloud that messages may go
	// to, such as 127.0.0.1/32; others of that kind are refused.
	Reach []string `yaml:"reach"`
}

// ChannelConfig is one channel. Which fields it takes depends on its type.
type ChannelConfig struct {
	Type string `yaml:"type"` // desktop, webhook, ntfy, email or command
	// IncludeInput puts the input of calls into messages, with secrets masked.
	IncludeInput bool `yaml:"include_input"`

	URL        string `yaml:"url"` // of a webhook; of an ntfy topic
	Secret     string `yaml:"secret"`
	SecretFile string `yaml:"secret_file"`

	Token     string `yaml:"token"` // of an ntfy server
	TokenFile string `yaml:"token_file"`
	Buttons   bool   `yaml:"buttons"` // ntfy messages can allow and deny
	Person    string `yaml:"person"`  // who presses them

	Server       string   `yaml:"server"`   // host and port of a mail server
	Security     string   `yaml:"security"` // starttls, which is the default, tls or none
	User         string   `yaml:"user"`
	Password     string   `yaml:"password"`
	PasswordFile string   `yaml:"password_file"`
	From         string   `yaml:"from"`
	To           []string `yaml:"to"`

	Path    string        `yaml:"path"` // of a program
	Args    []string      `yaml:"args"`
	Timeout time.Duration `yaml:"timeout"`
}

// RuleConfig is one rule. The first that fits a call holds.
type RuleConfig struct {
	Agent     string        `yaml:"agent"`
	Tool      string        `yaml:"tool"`
	Project   string        `yaml:"project"`
	Risk      []Risk        `yaml:"risk"`
	To        []string      `yaml:"to"`
	After     time.Duration `yaml:"after"`
	Remind    time.Duration `yaml:"remind"`
	Reminders int           `yaml:"reminders"`
	Quiet     string        `yaml:"quiet"`
}

// Check refuses what can't be meant. Whether there is a public address is not
// known to it.
func (c Config) Check() error { return c.Configure(&Outbox{Public: "https://gateway.invalid"}) }

// Configure gives an outbox the channels and rules of a configuration.
func (c Config) Configure(o *Outbox) error {
	reach, err := c.reach()
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(c.Channels)) {
		t, err := c.Channels[name].target(o, reach)
		if err != nil {
			return fmt.Errorf("notify: channel %s: %w", name, err)
		}
		t.Name = name
		o.Targets = append(o.Targets, t)
	}
	for i, r := range c.Rules {
		rule, err := r.rule(o)
		if err != nil {
			return fmt.Errorf("notify: rule %d: %w", i+1, err)
		}
		o.Rules = append(o.Rules, rule)
	}
	if c.PageDelay < 0 {
		return errors.New("notify: page_delay is a time, such as 30s")
	}
	o.PageDelay = c.PageDelay
	return nil
}

// ForeignClient sends to addresses that a request named, such as those of
// browsers' push services.
func (c Config) ForeignClient() (*http.Client, error) {
	reach, err := c.reach()
	return client(reach.checkForeign), err
}

func (c Config) reach() (out Reach, err error) {
	for _, s := range c.Reach {
		p, err := netip.ParsePrefix(s)
		if err != nil {
			return nil, fmt.Errorf("notify: reach: %q is no range of addresses such as 127.0.0.1/32", s)
		}
		out = append(out, p)
	}
	return out, nil
}

func (r RuleConfig) rule(o *Outbox) (out Rule, err error) {
	for _, to := range r.To {
		if o.target(to) == nil {
			return out, fmt.Errorf("there is no channel %q", to)
		}
	}
	for _, k := range r.Risk {
		if k != Low && k != Medium && k != High {
			return out, fmt.Errorf("a risk is low, medium or high, not %q", k)
		}
	}
	switch {
	case r.After < 0 || r.Remind < 0 || r.Reminders < 0:
		return out, errors.New("times and numbers are not negative")
	case r.Remind > 0 && r.Remind < time.Minute:
		return out, errors.New("reminders are at least a minute apart")
	case r.Remind > 0 && r.Reminders == 0:
		r.Reminders = 3
	}
	out = Rule{Agent: r.Agent, Tool: r.Tool, Project: r.Project, Risk: r.Risk, To: r.To, After: r.After, Remind: r.Remind, Reminders: r.Reminders}
	out.Quiet, err = ParseQuiet(r.Quiet)
	return out, err
}
