package shell

import "strings"

// awk judges a program: system and pipes run, > writes, getline reads.
func awk(u *usage, out WordValue) WordValue {
	scripts := u.operands
	if len(scripts) > 1 {
		scripts = scripts[:1]
	}
	if u.has("-f", "--file", "-E", "--exec") {
		scripts = nil
	}
	for _, g := range u.given {
		if g.instead && g.takes == asText {
			scripts = append(scripts[:0:0], g.value)
		}
	}
	for _, w := range scripts {
		if !w.Known() {
			u.blame(Executes, "UNKNOWN_SCRIPT", w)
			continue
		}
		p := awkScanner{u: u, word: w, rest: w.Text}
		p.scan()
	}
	return out
}

// An awkScanner reads tokens, as far as is needed to tell strings and regular
// expressions from operators.
type awkScanner struct {
	u      *usage
	word   WordValue
	rest   string
	value  bool // the last token was a value: / divides
	closed bool // … and a parenthesis
	print  bool // in the arguments of print or printf
	parens int
	comma  bool // the last token was a comma, or another behind which the line goes on
}

func (p *awkScanner) scan() {
	for p.rest != "" {
		c := p.rest[0]
		switch {
		case c == ' ' || c == '\t':
			p.rest = p.rest[1:]
		case c == '#':
			i := strings.IndexByte(p.rest, '\n')
			if i < 0 {
				return
			}
			p.rest = p.rest[i:]
		case c == '"':
			p.quoted('"')
		case c == '/' && !p.value:
			p.quoted('/')
		case c == '/' && p.closed && awkMayAct(p.word.Text):
			p.doubt() // behind a parenthesis it may begin an expression, or divide
		case nameByte(c) || c == '$':
			p.name()
		default:
			p.operator(c)
		}
	}
}

// quoted skips a string or a regular expression.
func (p *awkScanner) quoted(end byte) {
	brackets := false
	for i := 1; i < len(p.rest); i++ {
		switch c := p.rest[i]; {
		case c == '\\':
			i++
		case c == '\n':
			p.doubt()
			return
		case end == '/' && c == '[':
			brackets = true
		case c == ']':
			brackets = false
		case c == end && brackets:
			p.doubt() // awks differ on whether this ends it
			return
		case c == end:
			p.rest, p.value, p.closed, p.comma = p.rest[i+1:], true, false, false
			return
		}
	}
	p.doubt()
}

func (p *awkScanner) doubt() {
	p.u.blame(Unknown, "UNKNOWN_SCRIPT", p.word)
	p.rest = ""
}

var awkKeywords = names("if else while for do in delete return exit next nextfile BEGIN END BEGINFILE ENDFILE function func switch case default break continue")

func (p *awkScanner) name() {
	i := 1
	for i < len(p.rest) && nameByte(p.rest[i]) {
		i++
	}
	name := p.rest[:i]
	p.rest = p.rest[i:]
	p.value, p.closed, p.comma = !awkKeywords()[name], false, false
	switch name {
	case "print", "printf":
		p.print, p.parens, p.value = true, 0, false
	case "system":
		p.u.blame(Executes, "AWK_RUNS", p.word)
	case "getline", "ARGV", "ARGC", "ARGIND", "PROCINFO", "FUNCTAB", "SYMTAB":
		p.u.blame(Unknown, "AWK_READS", p.word)
	case "ENVIRON":
		p.u.blame(ShowsSecret, "SHOWS_ENVIRONMENT", p.word)
	}
}

// awkMayAct reports whether a program has anything that could do more than print.
func awkMayAct(s string) bool {
	return strings.ContainsAny(s, "|>@") || strings.Contains(s, "system") || strings.Contains(s, "getline") || strings.Contains(s, "ENVIRON")
}

func (p *awkScanner) operator(c byte) {
	two := p.rest[:min(2, len(p.rest))]
	comma := p.comma
	p.rest = p.rest[1:]
	p.value, p.closed, p.comma = false, false, c == ','
	switch {
	case two == "||" || two == "&&":
		p.rest, p.comma = p.rest[1:], true
	case c == '?' || c == ':':
		p.comma = true
	case two == "|&" || c == '|':
		p.u.blame(Executes, "AWK_RUNS", p.word)
	case c == '@':
		p.u.blame(Executes, "AWK_LOADS", p.word)
	case c == '(' || c == '[':
		p.parens++
	case c == ')' || c == ']':
		p.parens--
		p.value, p.closed = true, c == ')'
	case c == '\n' && comma:
		p.comma = true
	case two == "\\\n":
		p.rest = p.rest[1:]
	case c == '{' || c == '}' || c == ';' || c == '\n':
		p.print, p.parens = false, 0
	case c == '>' && p.print && p.parens <= 0:
		p.u.add(Effect{Action: Writes, Code: "AWK_WRITES", Detail: p.word.Text, Start: p.word.Start, End: p.word.End})
	case two == "++" || two == "--":
		p.rest = p.rest[1:]
		p.value = true
	}
}
