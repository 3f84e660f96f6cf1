package shell

import "strings"

// sed judges the scripts of sed: w and W write, r and R read, e and s///e run.
func sed(u *usage, out WordValue) WordValue {
	var scripts []WordValue
	for _, g := range u.given {
		if g.instead && g.takes == asText {
			scripts = append(scripts, g.value)
		}
	}
	if !u.has("-e", "--expression", "-f", "--file") && len(u.operands) > 0 {
		scripts = append(scripts, u.operands[0])
	}
	for _, w := range scripts {
		if !w.Known() {
			u.blame(Executes, "UNKNOWN_SCRIPT", w)
			continue
		}
		p := sedParser{u: u, word: w, rest: w.Text}
		p.script()
	}
	return out
}

// A sedParser reads one script. What it does not understand is unknown.
type sedParser struct {
	u    *usage
	word WordValue
	rest string
	bad  bool
}

func (p *sedParser) fail() {
	if !p.bad {
		p.u.blame(Unknown, "UNKNOWN_SCRIPT", p.word)
	}
	p.bad, p.rest = true, ""
}

func (p *sedParser) script() {
	for {
		p.rest = strings.TrimLeft(p.rest, " \t\n;")
		if p.rest == "" {
			return
		}
		p.address()
		p.rest = strings.TrimLeft(p.rest, " \t")
		if strings.HasPrefix(p.rest, ",") {
			p.rest = strings.TrimLeft(p.rest[1:], " \t")
			p.address()
		}
		p.rest = strings.TrimLeft(p.rest, " \t!")
		if p.rest == "" {
			p.fail()
			return
		}
		p.command()
	}
}

// address skips 12, $, 0~4, +3, /re/I and \cREc.
func (p *sedParser) address() {
	switch {
	case p.rest == "":
	case p.rest[0] == '/' || p.rest[0] == '\\' && len(p.rest) > 1:
		if p.rest[0] == '\\' {
			p.rest = p.rest[1:]
		}
		p.delimited(1)
		p.rest = strings.TrimLeft(p.rest, "IM")
	default:
		p.rest = strings.TrimLeft(p.rest, "0123456789$~+")
	}
}

// delimited skips n parts that end with the first character.
func (p *sedParser) delimited(n int) {
	if p.rest == "" {
		p.fail()
		return
	}
	end, brackets := p.rest[0], false
	i := 1
	for ; n > 0; i++ {
		if i >= len(p.rest) {
			p.fail()
			return
		}
		switch c := p.rest[i]; {
		case c == '\\':
			i++
		case c == '\n' && n > 1:
			p.fail()
			return
		case c == end && brackets:
			// GNU and POSIX differ on whether this ends the expression.
			p.fail()
			return
		case c == end:
			n--
		case c == '[' && i+2 < len(p.rest) && strings.IndexByte(p.rest[i+2:], ']') >= 0 && hasDelimiter(p.rest[i:], end):
			brackets = true
		case c == ']':
			brackets = false
		}
	}
	p.rest = p.rest[i:]
}

// hasDelimiter reports whether the bracket expression at the start of s holds
// the delimiter.
func hasDelimiter(s string, end byte) bool {
	closing := strings.IndexByte(s[2:], ']')
	return closing >= 0 && strings.IndexByte(s[1:closing+2], end) >= 0
}

func (p *sedParser) command() {
	c := p.rest[0]
	p.rest = p.rest[1:]
	switch c {
	case '{':
	case '}', '=', 'd', 'D', 'g', 'G', 'h', 'H', 'n', 'N', 'p', 'P', 'x', 'z', 'F':
		p.end()
	case 'l', 'L', 'q', 'Q':
		p.rest = strings.TrimLeft(p.rest, " \t0123456789")
		p.end()
	case '#':
		p.line()
	case ':', 'b', 't', 'T':
		i := strings.IndexAny(p.rest, ";\n}")
		if i < 0 {
			i = len(p.rest)
		}
		p.rest = p.rest[i:]
	case 'a', 'i', 'c':
		p.text()
	case 's':
		p.delimited(2)
		p.flags()
	case 'y':
		p.delimited(2)
		p.end()
	case 'r', 'R':
		p.file(Reads)
	case 'w', 'W':
		p.file(Writes)
	case 'e':
		p.u.blame(Executes, "SED_RUNS", p.word)
		p.line()
	default:
		p.fail()
	}
}

// end wants nothing more before the next command.
func (p *sedParser) end() {
	p.rest = strings.TrimLeft(p.rest, " \t")
	if p.rest != "" && !strings.ContainsAny(p.rest[:1], ";\n}#") {
		p.fail()
	}
}

// line takes the rest of the line.
func (p *sedParser) line() string {
	line, rest, _ := strings.Cut(p.rest, "\n")
	p.rest = rest
	return line
}

// text skips the text of a, i and c, which goes on behind a backslash.
func (p *sedParser) text() {
	for strings.HasSuffix(p.line(), "\\") && p.rest != "" {
		continue
	}
}

func (p *sedParser) file(a Action) {
	v := p.word
	v.Text = strings.TrimLeft(p.line(), " \t")
	p.u.file(a, v, p.u.st)
}

func (p *sedParser) flags() {
	for p.rest != "" {
		c := p.rest[0]
		switch {
		case strings.IndexByte("gpiImM0123456789", c) >= 0:
			p.rest = p.rest[1:]
		case c == 'e':
			p.u.blame(Executes, "SED_RUNS", p.word)
			p.rest = p.rest[1:]
		case c == 'w':
			p.rest = p.rest[1:]
			p.file(Writes)
			return
		default:
			p.end()
			return
		}
	}
}
