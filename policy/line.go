package policy

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/shell"
)

// A command line is allowed as a whole: if each command in it, wherever it
// stands, is covered by a rule that allows it, or only reads where that is
// allowed. What a command does decides, not how it is called.

// line adds what allows the whole line, if something does for each of its
// commands, and otherwise notes for which nothing does.
func (s *Set) line(f *Facts, out *said) {
	u := f.shell
	if u == nil || !u.facts.Readable() {
		return
	}
	reads := s.reads
	u.reads, u.open = reads != nil, nil
	allows := f.buffers().allows[:0]
	for i := range u.facts.Commands {
		switch {
		case len(out.covered[i]) > 0:
			allows = append(allows, out.covered[i]...)
		case reads != nil && f.harmless(i):
			r, at := *reads, u.hitOf(i)
			r.Field, r.Part, r.Start, r.End = at.field, at.part, at.start, at.end
			allows = append(allows, r)
		default:
			u.open = append(u.open, i)
		}
	}
	if len(u.facts.Commands) == 0 && reads != nil && strings.TrimSpace(u.src) != "" {
		allows = append(allows, *reads) // only comments
	}
	f.buf.allows = allows
	loose := slices.ContainsFunc(u.facts.Effects, func(e shell.Effect) bool { return e.Command < 0 })
	if len(u.open) == 0 && !loose {
		out.reasons = append(out.reasons, allows...)
	}
}

// RuleReads is what a reason names as its rule if a command may run because it
// only reads.
const RuleReads = "exec reads: allow"

// whyReads returns why a command may run that only reads inside the project,
// nil if it may not.
func whyReads(layers []*layer) (why *gatelatch.Reason) {
	for _, l := range layers {
		switch {
		case l.exec == nil || l.exec.reads == "":
		case l.exec.reads != readsAllow:
			return nil
		case why == nil:
			why = &gatelatch.Reason{Effect: gatelatch.Allow, Layer: l.name, Source: l.exec.at, Rule: RuleReads, Message: "it only reads"}
		}
	}
	return why
}

// harmless reports whether a command does nothing but read inside the project,
// and ask services that are set up on the machine.
func (f *Facts) harmless(command int) bool {
	all := f.shell.facts.Effects
	for i := range all {
		if all[i].Command == command && !f.onlyLooks(all[i]) {
			return false
		}
	}
	return true
}

func (f *Facts) onlyLooks(e shell.Effect) bool {
	switch e.Action {
	case shell.Reads:
		return e.Path != "" && f.readable(e)
	case shell.AsksService:
		return true
	default:
		return false
	}
}

// readable reports whether what an effect reads lies inside the project, or is
// a temporary file, with links followed, and is none of the gateway's own.
func (f *Facts) readable(e shell.Effect) bool {
	u := f.shell
	if !e.Below {
		for i := range u.looked {
			if u.looked[i].path == e.Place() {
				return u.looked[i].may
			}
		}
	}
	ok := false
	for _, path := range slices.Compact([]string{e.Path, e.Place()}) { // a program may remove ".." itself
		resolved, _, err := f.world.disk.follow(path, &f.left)
		ok = err == nil && f.left >= 0 && (f.inProject(resolved) || f.scratch(resolved)) && f.own([]string{resolved}) == "" && (resolved == path || !shell.Secret(resolved))
		if ok && e.Below {
			ok = f.belowReadable(e)
		}
		if !ok {
			break
		}
	}
	if !e.Below && len(u.looked) < maxFiles {
		if u.looked == nil {
			u.looked = u.few[:0]
		}
		u.looked = append(u.looked, mayRead{e.Place(), ok})
	}
	return ok
}

// belowReadable does so for all files that are read below a folder.
func (f *Facts) belowReadable(e shell.Effect) bool {
	files, known := f.below(e)
	return known && !slices.ContainsFunc(files, func(at found) bool {
		if !at.link {
			return shell.Secret(at.name)
		}
		resolved, _, err := f.world.disk.follow(at.name, &f.left)
		return err != nil || !f.inProject(resolved) && !f.scratch(resolved) || shell.Secret(at.name) || shell.Secret(resolved)
	})
}

// scratch reports whether a path lies in a folder for temporary files, where
// agents leave logs. A project in such a folder has others beside it.
func (f *Facts) scratch(path string) bool {
	return slices.ContainsFunc([]string{"/tmp", "/var/tmp", filepath.ToSlash(os.TempDir())}, func(dir string) bool {
		_, inside := relative(dir, path)
		_, among := relative(dir, f.project().resolved)
		return inside && path != dir && !among
	})
}

// covers reports whether the rule allows one command: it has its words, those
// that follow can't be mistaken for others, and it does nothing that the words
// of the rule don't say.
func (w words) covers(f *Facts, command int) bool {
	u := f.shell
	c, n := &u.facts.Commands[command], len(w.want)
	if len(c.Words) == 0 || len(c.Words) < n || len(c.Words) > n && !w.more || !c.Words[0].Known() || shell.IsWrapper(c.Words[0].Text) {
		return false
	}
	for i, word := range c.Words {
		if i < n && (!word.Known() || word.Text != w.want[i]) || i >= n && !steady(word) {
			return false
		}
	}
	if !f.runsHere(c.Dir) {
		return false // the rule is about this project's build, not another's
	}
	if c.Start < c.Words[0].Start || !quiet(c.Redirects) { // what is not in the rule's words
		u.fellShort(command, slices.DeleteFunc(u.facts.Of(command), func(e shell.Effect) bool { return !e.Around() }))
		return false
	}
	short := slices.DeleteFunc(u.facts.Of(command), func(e shell.Effect) bool { return w.excuses(f, c, e) })
	if w.more && !f.certain(command) {
		short = append(short, secretWords(c, n, command)...)
	}
	if len(short) > 0 || f.guard(command) != nil {
		u.fellShort(command, short)
		return false
	}
	return true
}

// runsHere reports whether a command runs where the agent's call would, or
// elsewhere inside the project.
func (f *Facts) runsHere(dir string) bool {
	switch {
	case dir == "":
		return f.call.Dir == "" // nothing was said, so it did not change
	case filepath.Clean(dir) == filepath.Clean(f.call.Dir):
		return true
	}
	resolved, _, err := f.world.disk.follow(dir, &f.left)
	return err == nil && f.left >= 0 && f.inProject(resolved)
}

// secretWords finds words that a rule leaves open and that name files with
// credentials.
func secretWords(c *shell.Simple, from, command int) (out []shell.Effect) {
	for _, w := range c.Words[from:] {
		if namesSecret(w.Text) {
			out = append(out, shell.Effect{Action: shell.ShowsSecret, Code: "SECRET_FILE", Detail: w.Text, Start: w.Start, End: w.End, Command: command})
		}
	}
	return out
}

func namesSecret(word string) bool {
	for name := range pieces(word) {
		if shell.Secret(name) {
			return true
		}
	}
	return false
}

// quiet reports whether redirections only throw output away.
func quiet(rs []shell.Redirect) bool {
	return !slices.ContainsFunc(rs, func(r shell.Redirect) bool { return !r.Target.Known() || r.Target.Text != os.DevNull })
}

// fellShort notes what a rule that has a command's words does not speak about;
// of several rules, what is least.
func (u *shellUse) fellShort(command int, effects []shell.Effect) {
	if u.short == nil {
		u.short = map[int][]shell.Effect{}
	}
	if old, known := u.short[command]; !known || len(effects) < len(old) {
		u.short[command] = effects
	}
}

// steady reports whether a word that a rule leaves open can't turn out to be an
// option, or more words than one.
func steady(w shell.WordValue) bool {
	switch w.Kind {
	case shell.Const, shell.Integer:
		return true
	case shell.OneOf:
		return !slices.ContainsFunc(w.Alts, func(s string) bool { return s == "" || s[0] == '-' })
	case shell.Begins, shell.Glob, shell.Names:
		return w.Text != "" && w.Text[0] != '-' && w.Text[0] != '*' && w.Text[0] != '?' && w.Text[0] != '['
	default:
		return false
	}
}

// excuses reports whether the rule means an effect of the command that it
// covers. A rule of whole words means all that they do. One that leaves words
// open means what the command is for, and what its own words say; never an
// option that does something else, nor a secret.
func (w words) excuses(f *Facts, c *shell.Simple, e shell.Effect) bool {
	switch {
	case e.Around():
		return f.onlyLooks(e)
	case !w.more, e.Action == shell.Reads, e.Action == shell.AsksService:
		return true
	case e.Action == shell.ShowsSecret:
		return false
	case e.Code == "COMMAND" || e.Code == "UNKNOWN_PROGRAM" || e.Code == "NO_OPERAND":
		return true
	case e.Code == "MODE" && !hasOptions(c.Words[len(w.want):]):
		return true // what it does without other options, or by those of the rule
	case e.Code == "OPTION" && w.names(e.Detail):
		return true
	case len(w.want) > 0 && e.Start >= c.Words[0].Start && e.End <= c.Words[len(w.want)-1].End:
		return true
	}
	if e.Code == "OPTION" && e.Action == shell.Executes {
		return false // what the command is for, but by another program
	}
	return slices.ContainsFunc(f.shell.facts.Effects, func(own shell.Effect) bool {
		return own.Command == e.Command && own.Code == "COMMAND" && own.Action == e.Action
	})
}

// coveredBy reports whether hits cover every command that does anything.
func (u *shellUse) coveredBy(hits []hit) bool {
	if !u.facts.Readable() {
		return false
	}
	return !slices.ContainsFunc(u.facts.Effects, func(e shell.Effect) bool {
		return e.Command < 0 || !slices.ContainsFunc(hits, func(h hit) bool { return h.command == e.Command })
	})
}

// names reports whether the rule's own words have an option, which stands at the
// end of a text such as "tar -x": itself, or among letters.
func (w words) names(detail string) bool {
	option := detail[strings.LastIndexByte(detail, ' ')+1:]
	if len(option) < 2 || option[0] != '-' {
		return false
	}
	return slices.ContainsFunc(w.want, func(word string) bool {
		letters := len(word) > 1 && len(word) < 5 && word[0] == '-' && word[1] != '-' && len(option) == 2 // longer ones may hold a value
		return word == option || letters && strings.Contains(word[1:], option[1:])
	})
}

func hasOptions(words []shell.WordValue) bool {
	return slices.ContainsFunc(words, func(w shell.WordValue) bool { return strings.HasPrefix(w.Text, "-") })
}

func (u *shellUse) hitOf(command int) hit {
	c := u.facts.Commands[command]
	return hit{field: "command", part: u.part(c.Start, c.End), start: c.Start, end: c.End, command: command}
}
