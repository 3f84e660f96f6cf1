package shell

import (
	"math/rand/v2"
	"strings"
)

// A script writes random commands. Its parts are such that a wrong reading of
// quotes, expansions or wrappers lets an rm through.
type script struct{ *rand.Rand }

func (s script) pick(list ...string) string { return list[s.IntN(len(list))] }

// A form makes a text of commands (C) and words (W) that are one level simpler.
var (
	wordForms = []string{"W", "W", "$(C)", "\"$(C)\"", "`rm a`", "`echo a`", "<(C)", "${x:-W}", "${x:+W}", "${x/a/W}", "$((1))", "$((x))", "$((a[1]))", "Q", "WW", "${x%W}", "${x:=W}", "${a[0]}", "\"${a[@]}\"", "\"W$@\"", "${x:W}", "$(<W)"}
	lineForms = []string{
		"S", "S", "S", "S", "S", "S", "C; C", "C && C", "C || C", "C | C", "( C )", "{ C; }", "if C; then C; else C; fi", "for x in W W; do C; done", "f() { C; }", "case W in a) C;; esac",
		"case a in *) C;; esac", "case rm in $x) C;; esac", "x=W C", "x=W", "C > /dev/null", "C > out", "C > $x", "C 2>&1", "C < W", "C <<< W", "C <<E\n$(rm a)\nE\n", "C <<E\n$x\nE\n",
		"while read x; do C; break; done < a", "! C", "time C", "[[ W == W ]] && C", "C & wait",
		"a=(W W); C", "set -- W W; C", "f() { C; }; f W W", "f() { local x=W; C; }; f; C", "C | xargs S", "C | while read x; do C; done", "x=$(C); C", "until C; do C; break; done", "export x=W; C", "declare x=W; C", "C |& C",
		"case $x in a|rm) C;; *) C;; esac", "for ((i=0; i<2; i++)); do C; done", "[[ W =~ W ]] || C", "((x=1)); C", "{ C; C; } > W", "trap Q EXIT", "unset x; C", "unset -f f; C", "cd W && C", "( cd src; C ); C", "x=W y=W C", "C; return; C", "C; exit; C",
		"while C; do C; break; done", "if ! C; then C; elif C; then C; fi", "select x in W; do C; break; done", "C <<'E'\n$(rm a)\nE\n", "readonly x=W; C", "printf '%s\\n' W W | C", "shift; C", "x+=W; C",
	}
	plainWords    = strings.Split("a|b|x|src|rm|ls|-l|'a b'|\"$x\"|$x|$y|\"$@\"|$1|{a,b}|{rm,a}|*|[ab]|\\a|r\\m|''|$'\\x72m'|-n|-exec|{}|';'|';rm a'|'rm a'|'$(rm a)'|\"$(rm a)\"|x=rm|1|\"$*\"|$*|\"${a[@]}\"|${a[1]}|${#x}|{1..2}|\"a b\"|a*|?|$'a\\nrm'|${x#a}|..|./a|src/|-exec|+|--|-e|-I{}|\"\"|$#|$?|!", "|")
	plainCommands = strings.Split("ls|cat|echo|echo rm|rm|true|:|printf|$x|$y|\"$x\"|eval|f|sort|head -1|grep a|wc|seq 2|basename", "|")
	programs      = strings.Split("ls|cat|echo|rm|$x|sort|printf %s|xargs|xargs -I{}|env|env A=1|timeout 3|nice|find . -name|find . -exec|find a -maxdepth 0 -exec|sh -c|bash -c|eval|command|builtin|sed|sed -n|awk|test|head|uniq|f|set --|x=rm|x=ls|x=$(echo rm)|y=x|read x|unset x|printf -v x|exec|local x=|declare x=rm|export x|[ -v|[[ -n|let|tr|xargs -n1|xargs -0|xargs -I{} sh -c|find . -type f -exec|find . -name a -o -exec|env -i|env -u x|env -S|command -p|command -v|type|exec -a q|nice -n 1|timeout -k 1 3|sort -u|hash|cd|pushd|popd|mapfile a|read -a a|[ x =|find . -maxdepth 1 -print0|sed -e|sed s/a/b/|awk 1|tail -n1|bash -s|sh -ec|printf '%s\\n'", "|")
)

func (s script) word(depth int) string {
	if depth <= 0 {
		return s.pick(plainWords...)
	}
	return s.fill(s.pick(wordForms...), depth-1)
}

func (s script) command(depth int) string {
	if depth <= 0 {
		return s.pick(plainCommands...) + s.words(0)
	}
	return s.fill(s.pick(lineForms...), depth-1)
}

func (s script) words(depth int) string {
	var b strings.Builder
	for range s.IntN(4) {
		b.WriteString(" " + s.word(depth))
	}
	return b.String()
}

// fill puts commands and words in place of the capitals of a form.
func (s script) fill(form string, depth int) string {
	var b strings.Builder
	for _, c := range form {
		switch c {
		case 'C':
			b.WriteString(s.command(depth))
		case 'W':
			b.WriteString(s.word(depth))
		case 'Q':
			b.WriteString(quote(s.command(depth)))
		case 'S':
			b.WriteString(s.pick(programs...) + s.words(depth+1))
		default:
			b.WriteRune(c)
		}
	}
	return b.String()
}
