package policy

import (
	"crypto/sha256"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/shell"
)

// maxBound is how many bytes of files a call is bound to, mostBound how many
// files: an agent that asks must not have the gateway read for long.
const (
	maxBound  = 32 << 20
	mostBound = 32
)

// A Binder reads what calls depend on from this machine's disk.
type Binder struct {
	home, host string
}

var _ gatelatch.Binder = (*Binder)(nil)

// NewBinder returns one for agents of this machine.
func NewBinder() *Binder {
	host, err := os.Hostname()
	if err != nil {
		host = "" // then no agent is known to run here
	}
	return &Binder{home: home(), host: host}
}

// here reports whether a session runs on this machine.
func (b *Binder) here(s *gatelatch.Session) bool { return b.host != "" && s.Host == b.host }

// Bind implements gatelatch.Binder.
func (b *Binder) Bind(c *gatelatch.Call, s *gatelatch.Session) *gatelatch.Bound {
	out := &gatelatch.Bound{Server: b.Server(c.Tool, s)}
	f := newFacts(c, s, world{home: b.home, disk: newDisk(b.home)})
	switch {
	case f.shell != nil:
		f.bindShell(out)
	case pathTools[c.Tool].writes:
		f.bindPath(out)
	}
	if !b.here(s) && (len(out.Files) > 0 || out.Unbound != "") {
		return &gatelatch.Bound{Unbound: gatelatch.UnboundMachine}
	}
	if len(out.Files) == 0 && out.Unbound == "" && out.Server == nil {
		return nil
	}
	return out
}

// bindPath binds a file that is written to what it was.
func (f *Facts) bindPath(out *gatelatch.Bound) {
	if f.path == nil || len(f.path.certain) == 0 {
		out.Unbound = gatelatch.UnboundFile
		return
	}
	for _, resolved := range f.path.certain {
		f.bindFile(out, gatelatch.File{Path: f.path.given, Real: resolved, Writes: true})
	}
}

// bindShell binds the scripts that a command line names. Code that it runs from
// elsewhere is not bound, and it says so.
func (f *Facts) bindShell(out *gatelatch.Bound) {
	line := f.shell.facts
	if !line.Readable() {
		out.Unbound = gatelatch.UnboundCode
	}
	for i := range line.Commands {
		f.bindCommand(i, out)
	}
	if slices.ContainsFunc(line.Effects, func(e shell.Effect) bool { return e.Action == shell.Executes && e.Command < 0 }) {
		out.Unbound = gatelatch.UnboundCode
	}
}

func (f *Facts) bindCommand(command int, out *gatelatch.Bound) {
	var scripts []string
	runs, unknown, shown, input := false, false, false, ""
	for _, e := range f.shell.facts.Of(command) {
		switch {
		case e.Action == shell.Unknown && e.Code != "UNKNOWN_PROGRAM":
			unknown = true // of an option nobody knows what it loads
		case e.Code == "READ_REDIRECT":
			input = e.Place()
		case e.Action != shell.Executes:
		case e.Code == "SCRIPT_FILE" || e.Code == "PROGRAM_FILE" || e.Code == "OPERAND_CODE":
			scripts = append(scripts, e.Detail)
		case e.Code == "OPTION_CODE": // perl -e CODE, awk -f FILE
			shown = true
			if f.plainFile(command, e.Detail) {
				scripts = append(scripts, e.Detail)
			}
		case e.Code == "SCRIPT_FROM_INPUT":
			if input == "" {
				runs = true
			} else {
				scripts = append(scripts, input)
			}
		case e.Code == "COMMAND":
			runs = true
		default:
			out.Unbound = gatelatch.UnboundCode
		}
	}
	for _, script := range scripts {
		f.bindScript(command, script, out)
	}
	if runs && len(scripts) == 0 && !shown || unknown && (runs || len(scripts) > 0) {
		out.Unbound = gatelatch.UnboundCode
	}
}

// plainFile reports whether a word of a command is the name of a file.
func (f *Facts) plainFile(command int, word string) bool {
	resolved, ok := f.scriptAt(command, word)
	if !ok {
		return false
	}
	info, err := os.Lstat(filepath.FromSlash(resolved))
	return err == nil && info.Mode().IsRegular()
}

// scriptAt returns where a script lies. A shell looks for what it sources in
// PATH first.
func (f *Facts) scriptAt(command int, word string) (resolved string, ok bool) {
	c := f.shell.facts.Commands[command]
	switch program := c.Words[0].Text; {
	case word == "", !filepath.IsAbs(word) && !filepath.IsAbs(c.Dir), strings.ContainsRune(word, 0):
		return "", false
	case (program == "." || program == "source") && !strings.Contains(word, "/"):
		return "", false
	case !filepath.IsAbs(word):
		word = c.Dir + "/" + word // not Join: it would remove ".."
	}
	resolved, _, err := f.world.disk.follow(word, &f.left)
	return resolved, err == nil && f.left >= 0
}

func (f *Facts) bindScript(command int, word string, out *gatelatch.Bound) {
	resolved, ok := f.scriptAt(command, word)
	if !ok {
		out.Unbound = gatelatch.UnboundCode
		return
	}
	f.bindFile(out, gatelatch.File{Path: word, Real: resolved})
}

// bindFile adds a file with its content as it is now.
func (f *Facts) bindFile(out *gatelatch.Bound, file gatelatch.File) {
	if slices.ContainsFunc(out.Files, func(o gatelatch.File) bool { return o.Path == file.Path && o.Real == file.Real }) {
		return
	}
	sum, size, err := sumOf(file.Real, maxBound-f.bound)
	f.bound += size
	file.Sum = sum
	if err != nil || len(out.Files) == mostBound {
		out.Unbound = gatelatch.UnboundFile
		return
	}
	out.Files = append(out.Files, file)
}

var errNotBound = errors.New("it is no plain file, or too large")

// sumOf hashes a file of at most so many bytes, whose links are followed. One
// that is missing has the zero sum.
func sumOf(resolved string, most int64) (sum gatelatch.Sum, size int64, err error) {
	f, err := os.OpenFile(filepath.FromSlash(resolved), openPlain, 0)
	if missingFile(err) {
		return sum, 0, nil
	} else if err != nil {
		return sum, 0, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err == nil && (!info.Mode().IsRegular() || info.Size() > most) {
		err = errNotBound
	}
	if err != nil {
		return sum, 0, err
	}
	h := sha256.New()
	size, err = io.Copy(h, io.LimitReader(f, most+1))
	if err == nil && size > most {
		err = errNotBound
	}
	return gatelatch.Sum(h.Sum(nil)), size, err
}
