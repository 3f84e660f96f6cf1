package notify

import (
	"errors"
	"fmt"
	"maps"
	"net"
	"net/mail"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
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

// fields are what each type takes, beside type and include_input.
var fields = map[string][]string{
	"desktop": {},
	"webhook": {"url", "secret", "secret_file"},
	"ntfy":    {"url", "token", "token_file", "buttons", "person"},
	"email":   {"server", "security", "user", "password", "password_file", "from", "to"},
	"command": {"path", "args", "timeout"},
}

func (c ChannelConfig) target(o *Outbox, reach Reach) (*Target, error) {
	takes, ok := fields[c.Type]
	if !ok {
		return nil, fmt.Errorf("a type is one of %s, not %q", strings.Join(slices.Sorted(maps.Keys(fields)), ", "), c.Type)
	}
	v := reflect.ValueOf(c)
	for i := range v.NumField() {
		name := v.Type().Field(i).Tag.Get("yaml")
		if name != "type" && name != "include_input" && !v.Field(i).IsZero() && !slices.Contains(takes, name) {
			return nil, fmt.Errorf("%s is nothing that a channel of type %s takes", name, c.Type)
		}
	}
	t := &Target{Type: c.Type, Input: c.IncludeInput, Settled: c.Type != "email" && c.Type != "desktop"}
	var err error
	switch c.Type {
	case "desktop":
		t.Channel, err = newDesktop()
	case "webhook":
		t.Channel, err = c.webhook(o, reach)
	case "ntfy":
		t.Channel, err = c.ntfy(o, reach)
		t.Buttons, t.Person = c.Buttons, c.Person
	case "email":
		t.Channel, err = c.email(reach)
	case "command":
		t.Channel, err = c.command(o)
	}
	return t, err
}

func (c ChannelConfig) webhook(o *Outbox, reach Reach) (Channel, error) {
	if _, err := address(c.URL); err != nil {
		return nil, err
	}
	secret, err := either("secret", c.Secret, c.SecretFile)
	if err != nil {
		return nil, err
	}
	key, err := webhookKey(secret)
	if err != nil {
		return nil, err
	}
	return &webhook{url: c.URL, key: key, source: o.link(""), client: reach.client(), now: time.Now}, nil
}

func (c ChannelConfig) ntfy(o *Outbox, reach Reach) (Channel, error) {
	u, err := address(c.URL)
	if err != nil {
		return nil, err
	}
	topic := strings.TrimPrefix(u.Path, "/")
	if topic == "" || strings.Contains(topic, "/") || u.RawQuery != "" || u.User != nil {
		return nil, errors.New("the url is that of a topic: https://ntfy.sh/TOPIC")
	}
	token, err := either("token", c.Token, c.TokenFile)
	switch {
	case err != nil:
		return nil, err
	case c.Buttons && o.Public == "":
		return nil, errors.New("buttons need a public_url, so that a phone gets here; without one, leave buttons out")
	case c.Buttons && c.Person == "":
		return nil, errors.New("buttons need a person: whoever reads the topic decides in that name")
	}
	return &ntfy{server: u.Scheme + "://" + u.Host + "/", topic: topic, token: token, press: o.Public + "/v1/presses", client: reach.client()}, nil
}

func (c ChannelConfig) email(reach Reach) (Channel, error) {
	e := &email{addr: c.Server, security: c.Security, user: c.User, reach: reach, now: time.Now}
	if _, _, err := net.SplitHostPort(c.Server); err != nil {
		return nil, errors.New("server is host and port, such as mail.example.org:587")
	}
	switch c.Security {
	case "":
		e.security = "starttls"
	case "starttls", "tls", "none":
	default:
		return nil, fmt.Errorf("security is starttls, tls or none, not %q", c.Security)
	}
	from, err := mail.ParseAddress(c.From)
	if err != nil {
		return nil, fmt.Errorf("from: %w", err)
	}
	e.from = *from
	for _, s := range c.To {
		to, err := mail.ParseAddress(s)
		if err != nil {
			return nil, fmt.Errorf("to: %w", err)
		}
		e.to = append(e.to, *to)
	}
	if len(e.to) == 0 {
		return nil, errors.New("to: whom?")
	}
	if e.password, err = either("password", c.Password, c.PasswordFile); err == nil && (e.password != "") != (e.user != "") {
		err = errors.New("user and password go together")
	}
	if err == nil && e.user != "" && e.security == "none" {
		err = errors.New("a password is not sent in the clear: use starttls or tls")
	}
	return e, err
}

func (c ChannelConfig) command(o *Outbox) (Channel, error) {
	if !filepath.IsAbs(c.Path) {
		return nil, fmt.Errorf("%q needs an absolute path", c.Path)
	}
	if info, err := os.Stat(c.Path); err != nil || info.IsDir() {
		return nil, fmt.Errorf("%s is no program", c.Path)
	}
	timeout := c.Timeout
	if timeout == 0 {
		timeout = 10 * time.Second
	}
	if timeout < 0 || timeout > sendTime {
		return nil, fmt.Errorf("a timeout is at most %s", sendTime)
	}
	return &command{path: c.Path, args: c.Args, source: o.link(""), timeout: timeout}, nil
}

// address reads a URL with TLS. On this machine it goes without.
func address(s string) (*url.URL, error) {
	u, err := url.Parse(s)
	if err != nil || u.Host == "" {
		return nil, errors.New("the url can't be read")
	}
	ip := net.ParseIP(u.Hostname())
	if here := u.Hostname() == "localhost" || ip != nil && ip.IsLoopback(); u.Scheme != "https" && (u.Scheme != "http" || !here) {
		return nil, errors.New("the url begins with https://")
	}
	return u, nil
}

// either returns a secret from the configuration or from a file of its own.
func either(name, value, file string) (string, error) {
	switch {
	case value != "" && file != "":
		return "", fmt.Errorf("give %s or %s_file, not both", name, name)
	case file == "":
		return value, nil
	case !filepath.IsAbs(file):
		return "", fmt.Errorf("%s_file needs an absolute path", name)
	}
	raw, err := os.ReadFile(file)
	if err == nil && len(raw) > 1<<12 {
		err = errors.New("it is too long for a secret")
	}
	if err != nil {
		return "", fmt.Errorf("%s_file: %w", name, err)
	}
	return strings.TrimSpace(string(raw)), nil
}
