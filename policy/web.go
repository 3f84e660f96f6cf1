package policy

import (
	"errors"
	"net/url"
	"slices"
	"strings"

	"golang.org/x/net/idna"
)

// webUse is the address that a call of WebFetch is about.
type webUse struct {
	given string
	host  string   // "" unless every program reads the same host
	hosts []string // what the host might be taken for
}

func (f *Facts) readWeb() {
	given, ok := f.text("url")
	if !ok {
		f.concern("the input has no address")
		f.web = &webUse{}
		return
	}
	web, problem := readAddress(given)
	if f.web = web; problem != "" {
		c := f.concern("%s", problem)
		c.Field, c.Part = "url", given
	}
}

// readAddress returns the hosts of an address, and why it is not plain.
func readAddress(given string) (*webUse, string) {
	w := &webUse{given: given, hosts: hostsIn(given)}
	u, err := url.Parse(given)
	switch {
	case strings.ContainsFunc(given, func(r rune) bool { return r <= ' ' || r > '~' || r == '\\' }):
		return w, "the address has characters that programs read in different ways"
	case err != nil || u.Host == "" || u.Opaque != "":
		return w, "the address can't be read"
	case u.Scheme != "http" && u.Scheme != "https":
		return w, "the address is neither http nor https"
	case u.User != nil:
		return w, "the address has a user name in front of its host"
	case strings.Trim(u.Hostname(), hostCharacters) != "":
		return w, "the host has unusual characters"
	}
	w.host = strings.TrimSuffix(strings.ToLower(u.Hostname()), ".")
	return w, ""
}

// maxHosts is how many names of one address are looked at. Those of its host
// come first.
const maxHosts = 64

// hostsIn returns all of an address that some program might take for its host,
// as it stands, and with escapes and other scripts' letters written out.
func hostsIn(given string) (hosts []string) {
	add := func(host string) {
		if host = strings.Trim(host, "."); host != "" && len(hosts) < maxHosts && !slices.Contains(hosts, host) {
			hosts = append(hosts, host)
		}
	}
	names := func(s string) {
		for name := range strings.FieldsFuncSeq(s, func(r rune) bool { return r <= ' ' || strings.ContainsRune(`/\?#@:[]`, r) }) {
			if ascii, err := lookalikes.ToASCII(name); err == nil {
				add(strings.ToLower(ascii))
			}
			for part := range strings.FieldsFuncSeq(strings.ToLower(name), notInHost) {
				add(part)
			}
		}
	}
	names(given)
	if unescaped, err := url.PathUnescape(given); err == nil && unescaped != given {
		names(unescaped)
	}
	return hosts
}

// lookalikes maps what browsers map: full-width letters, other dots.
var lookalikes = idna.New(idna.MapForLookup(), idna.Transitional(false), idna.StrictDomainName(false))

const hostCharacters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-."

func notInHost(r rune) bool { return !strings.ContainsRune(hostCharacters, r) }

// domain is the pattern of a WebFetch rule: a host and all below it, or only
// those.
type domain struct {
	name  string
	below bool
}

func parseDomain(pattern string) (matcher, error) {
	name, ok := strings.CutPrefix(pattern, "domain:")
	if !ok {
		return nil, errors.New("write WebFetch(domain:example.com)")
	}
	return newDomain(name)
}

func newDomain(name string) (domain, error) {
	name, below := strings.CutPrefix(name, "*.")
	ascii, err := idna.Lookup.ToASCII(name)
	if err != nil && strings.Trim(name, hostCharacters) == "" {
		ascii, err = name, nil // "_" and the like are refused below
	}
	ascii = strings.ToLower(ascii)
	if err != nil || ascii == "" || strings.ContainsFunc(name, hidden) || strings.Trim(ascii, hostCharacters) != "" || strings.Trim(ascii, ".") != ascii || strings.Contains(ascii, "..") {
		return domain{}, errors.New("a domain is letters, digits, - and single dots: example.com, or *.example.com for what is below it")
	}
	return domain{ascii, below}, nil
}

// match implements matcher.
func (d domain) match(f *Facts, allow bool, to []hit) ([]hit, error) {
	if f.web != nil && d.of(f.web, allow) {
		to = append(to, hit{field: "url", part: f.web.given})
	}
	return to, nil
}

// of reports whether an address is in the domain.
func (d domain) of(w *webUse, allow bool) bool {
	if allow {
		return d.has(w.host)
	}
	return slices.ContainsFunc(w.hosts, d.has)
}

func (d domain) has(host string) bool {
	rest, inside := strings.CutSuffix(host, d.name)
	return inside && (rest == "" && !d.below || len(rest) > 1 && strings.HasSuffix(rest, "."))
}

// skill is the pattern of a Skill rule: its name.
type skill string

func parseSkill(pattern string) (matcher, error) {
	if strings.ContainsAny(pattern, "*") {
		return nil, errors.New("a skill is named in full")
	}
	return skill(pattern), nil
}

// match implements matcher.
func (k skill) match(f *Facts, allow bool, to []hit) ([]hit, error) {
	if f.skill == string(k) || !allow && strings.EqualFold(f.skill, string(k)) {
		to = append(to, hit{field: "skill", part: f.skill})
	}
	return to, nil
}
