package notify

import (
	"errors"
	"fmt"
	"maps"
	"net"
	"net/mail"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"time"
)

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
