package policy

import (
	"errors"
	"net/url"
	"strings"
)

// webUse is the address that a call of WebFetch is about.
type webUse struct {
	given string
	host  string   // "" unless every program reads the same host
	hosts []string // what the host might be taken for
}

func (s *subject) readWeb() {
	given, ok := s.text("url")
	if !ok {
		s.concern("the input has no address")
		s.web = &webUse{}
		return
	}
	s.web = &webUse{given: given, hosts: strings.FieldsFunc(strings.ToLower(given), notInHost)}
	u, err := url.Parse(given)
	switch {
	case strings.ContainsFunc(given, func(r rune) bool { return r <= ' ' || r > '~' || r == '\\' }):
		s.concern("the address has characters that programs read in different ways").Part = given
	case err != nil || u.Host == "" || u.Opaque != "":
		s.concern("the address can't be read").Part = given
	case u.Scheme != "http" && u.Scheme != "https":
		s.concern("the address is neither http nor https").Part = given
	case u.User != nil:
		s.concern("the address has a user name in front of its host").Part = given
	case strings.Trim(u.Hostname(), hostCharacters) != "":
		s.concern("the host has unusual characters").Part = given
	default:
		s.web.host = strings.TrimSuffix(strings.ToLower(u.Hostname()), ".")
	}
}

const hostCharacters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-."

func notInHost(r rune) bool { return !strings.ContainsRune(hostCharacters, r) }

// domain is the pattern of a WebFetch rule: a host and all below it.
type domain string

func parseDomain(pattern string) (matcher, error) {
	name, ok := strings.CutPrefix(pattern, "domain:")
	switch {
	case !ok:
		return nil, errors.New("write WebFetch(domain:example.com)")
	case strings.HasPrefix(name, "*."):
		return nil, errors.New("sub-domains are always included; leave out the star")
	case name == "" || strings.Trim(name, hostCharacters) != "" || strings.Trim(name, ".") != name || strings.Contains(name, ".."):
		return nil, errors.New("a domain is letters, digits, - and single dots; others are written as xn--…")
	}
	return domain(strings.ToLower(name)), nil
}

func (d domain) match(s *subject, allow bool) ([]hit, error) {
	hosts := s.web.hosts
	if allow {
		hosts = []string{s.web.host}
	}
	for _, h := range hosts {
		if h = strings.Trim(h, "."); h == string(d) || strings.HasSuffix(h, "."+string(d)) {
			return []hit{{part: s.web.given}}, nil
		}
	}
	return nil, nil
}

// skill is the pattern of a Skill rule: its name.
type skill string

func parseSkill(pattern string) (matcher, error) {
	if strings.ContainsAny(pattern, "*") {
		return nil, errors.New("a skill is named in full")
	}
	return skill(pattern), nil
}

func (k skill) match(s *subject, allow bool) ([]hit, error) {
	if s.skill == string(k) || !allow && strings.EqualFold(s.skill, string(k)) {
		return []hit{{part: s.skill}}, nil
	}
	return nil, nil
}
