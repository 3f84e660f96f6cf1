package redact

import "strings"

// option takes the value of --password VALUE and the like. With = it is named.
func (f *scanner) option() bool {
	s := f.s
	if f.at > 0 && (wordy[s[f.at-1]] || s[f.at-1] == '.') {
		return false
	}
	from := f.at + 1
	if from < len(s) && s[from] == '-' {
		from++
	}
	to := from
	for to < len(s) && to-from <= longestName && wordy[s[to]] {
		to++
	}
	if to >= len(s) || s[to] != ' ' || to-from < 3 {
		return false
	}
	w := weigh(s[from:to])
	if w == none {
		return false
	}
	return to+1 < len(s) && s[to+1] != '-' && f.judge(w, to+1, false)
}

// programs have short options for secrets: before the value, or joined with
// it. Some have them only behind a verb.
var programs = map[string]struct{ apart, joined, verb string }{
	"curl": {"-u --user -U --proxy-user", "-u", ""}, "http": {"-a --auth", "", ""}, "https": {"-a --auth", "", ""}, "sshpass": {"-p", "-p", ""},
	"mysql": {"", "-p", ""}, "mysqldump": {"", "-p", ""}, "mysqladmin": {"", "-p", ""}, "mariadb": {"", "-p", ""}, "mongosh": {"-p", "", ""}, "mongo": {"-p", "", ""},
	"redis-cli": {"-a", "", ""}, "docker": {"-p", "", "login"}, "podman": {"-p", "", "login"}, "helm": {"-p", "", "login"}, "az": {"-p", "", "login"},
	"ldapsearch": {"-w", "", ""}, "zip": {"-P", "", ""}, "unzip": {"-P", "", ""}, "7z": {"", "-p", ""}, "smbclient": {"-U", "", ""}, "snmpget": {"-A -X", "", ""},
	"openssl": {"-k -K", "", ""}, "sqlcmd": {"-P", "-P", ""},
}

const longestCommand = 2048

// said takes what follows a program that takes secrets, or a word for one.
func (f *scanner) said() bool {
	if !saidPairs.has(f.s, f.at) {
		return false
	}
	end := run(f.s[:min(len(f.s), f.at+17)], f.at, &wordy)
	if end-f.at > 16 || end >= len(f.s) || f.s[end] != ' ' && f.s[end] != ':' {
		return false
	}
	word := f.s[f.at:end]
	if p, ok := programs[word]; ok && f.at >= f.line && f.s[end] == ' ' {
		if strings.HasPrefix(f.s[run(f.s, end, &blank):], p.verb) {
			f.ofProgram(end, p.apart, p.joined)
		}
		return false
	}
	switch strings.ToLower(word) {
	case "bearer", "basic", "ssws":
		from := run(f.s, end, &blank)
		if to := run(f.s[:min(len(f.s), from+longest)], from, &broad); to-from >= 12 && dense(f.s[from:to]) {
			return f.take(from, run(f.s, to, &broad))
		}
	case "password", "passwd", "passphrase", "secret", "token", "key", "credential", "credentials", "apikey":
		return f.near(end)
	default:
	}
	return false
}

var saidPairs = func() *pairs {
	p := new(pairs)
	for name := range programs {
		p.add(name)
	}
	for _, w := range []string{"be", "ba", "ss", "pa", "se", "to", "ke", "cr", "ap"} {
		p.add(w)
		p.add(strings.ToUpper(w))
		p.add(strings.ToUpper(w[:1]) + w[1:])
	}
	return p
}()

var blank = bytesOf(" \t")

// near looks for something random within a few words.
func (f *scanner) near(i int) bool {
	for limit := i + 40; i < len(f.s) && i < limit; {
		to := run(f.s[:min(len(f.s), i+longest)], i, &base64)
		if dense(f.s[i:to]) {
			f.mark(i, to)
			return false
		}
		i = to
		if i < len(f.s) && strings.IndexByte("\r\n;|&=", f.s[i]) >= 0 {
			return false
		}
		i++
	}
	return false
}

// ofProgram looks at the words of one command.
func (f *scanner) ofProgram(i int, apart, joined string) {
	s := f.s
	limit := min(len(s), i+longestCommand)
	for i < limit && strings.IndexByte("\r\n;|&", s[i]) < 0 && !newline(s, i) {
		from := run(s, i, &blank)
		to := from
		for to < limit && strings.IndexByte(" \t\r\n;|&\"'", s[to]) < 0 && !newline(s, to) {
			to++
		}
		word := s[from:to]
		switch {
		case from == to:
			to = max(to, from+1)
		case word[0] == '-' && to < len(s) && s[to] == ' ' && has(apart, word):
			vf, vt := value(s[:limit], run(s[:limit], to, &blank))
			f.pair(vf, vt, word)
			to = max(to, vt)
		case joined != "" && len(word) > len(joined) && strings.HasPrefix(word, joined) && !strings.HasPrefix(word, "--"):
			f.pair(from+len(joined), to, joined)
		}
		i = to
	}
	f.line = i
}

// newline reports whether an escape for one begins at i.
func newline(s string, i int) bool {
	return s[i] == '\\' && i+1 < len(s) && (s[i+1] == 'n' || s[i+1] == 'r')
}

// pair marks the secret of user:secret, or all of it where only that is given.
func (f *scanner) pair(from, to int, option string) {
	if strings.HasPrefix(strings.ToLower(option), "-u") || strings.HasSuffix(option, "user") || option == "--auth" {
		i := strings.IndexAny(f.s[from:to], ":%")
		if i < 0 {
			return
		}
		from += i + 1
	}
	if from < to && !reference(f.s[from:to]) {
		f.mark(from, to)
	}
}

func has(list, word string) bool {
	for w := range strings.FieldsSeq(list) {
		if w == word {
			return true
		}
	}
	return false
}
