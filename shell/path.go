package shell

import (
	"cmp"
	"path"
	"strings"
)

var fileCodes = [...]string{Reads: "READ_FILE", Writes: "WRITE_FILE", Deletes: "DELETE_FILE"}

// file adds the effect of using a path.
func (r *reader) file(a Action, w WordValue, st *state) {
	if w.Known() && w.Text == "-" {
		return // standard input or output
	}
	r.fileAs(a, w, st, fileCodes[a])
}

func (r *reader) fileAs(a Action, w WordValue, st *state, code string) {
	if w.Known() && streams(a, w.Text) {
		return
	}
	if w.Kind == OneOf {
		for _, alt := range w.Alts {
			one := w
			one.Kind, one.Text, one.Alts = Const, alt, nil
			r.fileAs(a, one, st, code)
		}
		return
	}
	if st.stay != "" && !strings.HasPrefix(w.Text, "/") {
		still := *st
		still.dir, still.stay = st.stay, ""
		r.fileAs(a, w, &still, code)
	}
	e := Effect{Action: a, Code: code, Detail: w.Text, Start: w.Start, End: w.End}
	if e.Path, e.Below = st.place(w); hasParent(e.Path) {
		e.Walked = e.Path
	}
	e.Path = clean(e.Path)
	if e.Below {
		e.Which = which(w)
	}
	switch {
	case strings.HasPrefix(e.Path, "/dev/tcp/"), strings.HasPrefix(e.Path, "/dev/udp/"), strings.Contains(w.Text, "://"):
		e.Action = Connects
	case strings.HasPrefix(w.Text, "file:"):
		e.Path = "" // a path to those that know such names
	}
	r.add(e)
	if w.secret || secretPath(e.Path) || w.Kind == Glob && secretGlob(w.Text) {
		e.Action, e.Code = ShowsSecret, "SECRET_FILE"
		r.add(e)
	}
}

// Place returns the path as the system would walk it.
func (e Effect) Place() string { return cmp.Or(e.Walked, e.Path) }

// Secret reports whether a path is one that usually holds credentials.
func Secret(path string) bool { return secretPath(path) }

// elsewhere reports whether programs may take a path for a URL, or for one on
// another machine: file:/x, concat:x, host:x.
func elsewhere(p string) bool {
	i := strings.IndexAny(p, ":/=")
	return i > 0 && p[i] == ':'
}

// streams are paths that are no files.
func streams(a Action, p string) bool {
	switch p {
	case "/dev/null", "/dev/stdin", "/dev/stdout", "/dev/stderr", "/dev/tty":
		return true
	case "/dev/zero", "/dev/urandom", "/dev/random":
		return a == Reads
	}
	n, ok := strings.CutPrefix(p, "/dev/fd/")
	return ok && isInteger(n)
}

// resolve returns where a word leads, as a clean path.
func (s *state) resolve(w WordValue) (p string, below bool) {
	p, below = s.place(w)
	return clean(p), below
}

// hasParent reports whether ".." is an element of the path.
func hasParent(p string) bool { return strings.Contains(p, "/../") || strings.HasSuffix(p, "/..") }

func clean(p string) string {
	if p == "" || isClean(p) {
		return p
	}
	return path.Clean(p)
}

// isClean reports whether an absolute path is plainly what path.Clean makes of it.
func isClean(p string) bool {
	if p[0] != '/' || len(p) > 1 && p[len(p)-1] == '/' {
		return false
	}
	for i := 1; i < len(p); i++ {
		if p[i-1] == '/' && (p[i] == '/' || p[i] == '.') {
			return false
		}
	}
	return true
}

// place returns where a word leads, seen from the working directory, and
// whether it is only somewhere below that. "" is not known.
func (s *state) place(w WordValue) (p string, below bool) {
	text := w.Text
	switch w.Kind {
	case Const:
	case Glob:
		text, below = globRoot(text), true
	case Names, Listed:
		below = true
	case Integer:
		text, below = "", true
	default:
		return "", false
	}
	if s.linked {
		return "", false
	}
	switch {
	case w.home && strings.HasPrefix(text, "~"):
		return text, below
	case strings.HasPrefix(text, "/"):
	case s.dir == "":
		return "", false
	default:
		text = s.dir + "/" + text
	}
	return text, below
}

func which(w WordValue) *Which {
	switch {
	case w.Kind == Glob:
		return &Which{Glob: strings.TrimPrefix(w.Text, globRoot(w.Text)), Linked: true}
	case w.named != nil:
		return &Which{Named: *w.named, Linked: true}
	}
	return &Which{Linked: true}
}

// globRoot returns the folder that all matches lie below. ".." behind a * would
// lead out of it.
func globRoot(pattern string) string {
	root, rest := "", pattern
	for {
		i := strings.IndexByte(rest, '/')
		if i < 0 || strings.ContainsAny(rest[:i], `*?[\(`) {
			break
		}
		root, rest = root+rest[:i+1], rest[i+1:]
	}
	for part := range strings.SplitSeq(rest, "/") {
		if ok, err := path.Match(part, ".."); ok && (part[0] == '.' || part[0] == '\\') || err != nil {
			return root + strings.Repeat("../", strings.Count(rest, "/")+2)
		}
	}
	return root
}

// within reports whether a clean path is root or lies below it.
func within(root, p string) bool {
	root = strings.TrimSuffix(root, "/")
	return p == root || strings.HasPrefix(p, root+"/") || root == "" && strings.HasPrefix(p, "/")
}

// secretDirs hold credentials, at any depth, or in the folder that is named.
var secretDirs = map[string]string{
	".ssh": "", ".aws": "", ".gnupg": "", ".kube": "", ".azure": "", ".docker": "", ".password-store": "", "keychains": "",
	".gatelatch": "", ".mozilla": "", ".electrum": "", ".bitcoin": "", "sudoers.d": "", ".terraform.d": "",
	"gcloud": ".config", "gh": ".config", "op": ".config", "sops": ".config", "gatelatch": ".config", "private": "ssl", "secrets": "run",
}

// secretLetters are what the names of secretDirs begin with.
var secretLetters = func() (is [256]bool) {
	for name := range secretDirs {
		is[name[0]] = true
	}
	return is
}()

var secretFiles = map[string]bool{
	".netrc": true, "_netrc": true, ".pgpass": true, ".my.cnf": true, ".npmrc": true, ".pypirc": true, ".git-credentials": true,
	".vault-token": true, ".htpasswd": true, ".boto": true, ".s3cfg": true, ".databrickscfg": true, ".dockercfg": true,
	"shadow": true, "gshadow": true, "shadow-": true, "sudoers": true, "credentials": true, "credentials.json": true,
	"secrets.json": true, "secrets.yaml": true, "secrets.yml": true, "secrets.toml": true, ".envrc": true, "environ": true,
	".bash_history": true, ".zsh_history": true, ".psql_history": true, ".mysql_history": true, ".python_history": true,
	"terraform.tfvars": true, "service-account.json": true, "master.key": true, "authorized_keys": true, ".secrets": true,
}

var secretEndings = map[string]bool{".pem": true, ".key": true, ".p12": true, ".pfx": true, ".jks": true, ".keystore": true, ".kdbx": true, ".ppk": true, ".asc": true, ".gpg": true, ".keytab": true, ".ovpn": true, ".tfvars": true, ".tfstate": true}

// secretPath reports whether a path is one that usually holds credentials.
func secretPath(p string) bool {
	before, rest := "", strings.ToLower(p)
	for {
		part, more, found := strings.Cut(rest, "/")
		if part != "" && secretLetters[part[0]] {
			if in, ok := secretDirs[part]; ok && (in == "" || in == before) {
				return true
			}
		}
		if !found {
			return secretFile(part)
		}
		before, rest = part, more
	}
}

func secretFile(name string) bool {
	if secretFiles[name] || strings.HasPrefix(name, "id_") && !strings.HasSuffix(name, ".pub") && len(name) < 16 && !strings.Contains(name[3:], "_") && knownKey(name) {
		return true
	}
	if name == ".env" || strings.HasPrefix(name, ".env.") || strings.HasSuffix(name, ".env") {
		return !strings.HasSuffix(name, ".example") && !strings.HasSuffix(name, ".sample") && !strings.HasSuffix(name, ".template") && !strings.HasSuffix(name, ".dist")
	}
	dot := strings.LastIndexByte(name, '.')
	return dot >= 0 && secretEndings[name[dot:]]
}

func knownKey(name string) bool {
	for _, k := range []string{"rsa", "dsa", "ecdsa", "ed25519", "xmss"} {
		if strings.HasPrefix(name[3:], k) {
			return true
		}
	}
	return false
}

// secretGlob reports whether a pattern is made to match files with credentials.
// One that matches everything is not.
func secretGlob(pattern string) bool {
	pattern = strings.ToLower(pattern)
	last := pattern[strings.LastIndexByte(pattern, '/')+1:]
	if strings.Trim(last, "*?") == "" && !strings.HasPrefix(last, ".") || strings.TrimLeft(last, "*") == ".*" {
		return secretPath(pattern)
	}
	if i := strings.IndexAny(last, "*?["); i > 2 && secretFile(last[:i]) {
		return true
	}
	for _, name := range []string{".env", ".env.local", "server.key", "server.pem", "id_rsa", "id_ed25519", ".netrc", ".npmrc", ".git-credentials", "credentials", "shadow"} {
		if ok, err := path.Match(last, name); ok || err != nil {
			return true
		}
	}
	return secretPath(pattern)
}
