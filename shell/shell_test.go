package shell

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestPlain(t *testing.T) {
	t.Parallel()
	for src, want := range map[string][]string{
		`ls`:                                  {"ls"},
		`  ls   -la  `:                        {"ls", "-la"},
		`git log --format=%h -n 3`:            {"git", "log", "--format=%h", "-n", "3"},
		`npm run 'a b' "c d"e'f'`:             {"npm", "run", "a b", "c def"},
		`./bin/tool a:b,c@d +x`:               {"./bin/tool", "a:b,c@d", "+x"},
		`grep 'a*b$(x) ! \ #' f`:              {"grep", `a*b$(x) ! \ #`, "f"},
		`cat "über dich.txt"`:                 {"cat", "über dich.txt"},
		`touch ''`:                            {"touch", ""},
		`'ls' x`:                              {"ls", "x"},
		`echo do then if`:                     {"echo", "do", "then", "if"},
		`cat ` + strings.Repeat("x", 8<<10-4): {"cat", strings.Repeat("x", 8<<10-4)},
	} {
		got, ok := Plain(src)
		if !ok {
			t.Errorf("%.60s: not plain", src)
			continue
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%.60s: %s", src, diff)
		}
	}
}

// notPlain lists texts that no rule may allow, by what would go wrong.
var notPlain = map[string][]string{
	"nothing":               {"", "   ", "''", `""`},
	"more than one command": {"ls; rm x", "ls && rm x", "ls || rm x", "ls | sh", "ls |& sh", "ls & rm x", "ls &", "ls;", "ls\nrm x", "ls\n", "\nls"},
	"redirection":           {"ls > /etc/passwd", "ls >> f", "ls < f", "ls 2>&1", "ls >| f", "ls >! f", "ls &> f", "ls <<< x", "cat <<E\nE", "<&-rm ls", "2>&-rm ls", "> f"},
	"assignment":            {"LD_PRELOAD=./x.so ls", "x=1", "a+=b", "x=(1 2)", "export PAGER=evil; ls", "'a=b' c"},
	"grouping":              {"(ls)", "{ ls; }", "! ls", "if ls; then rm x; fi", "f() { ls; }", "function f { ls; }", "case x in x) ls;; esac"},
	"substitution":          {"ls $(rm x)", "ls `rm x`", `ls "$(rm x)"`, "ls <(rm x)", "ls >(rm x)", "ls =(rm x)", `ls "` + "`rm x`" + `"`},
	"expansion":             {"ls $x", "ls ${x}", `ls "$x"`, "ls $((1))", "ls $[1]", "ls *", "ls ?", "ls [a]", "ls {a,b}", "ls ~", "ls ~root/x", "$x", "ls $'a'", `ls $"a"`, `ls "a!b"`, "ls !!", "ls ^a^b"},
	"zsh expansion":         {"ls =rm", "ls '=rm'", "ls x#", "ls (#i)x", "ls *(e:rm:)", "ls a^b", "ls 'a''b'"},
	"evaluation":            {"[[ -v 'a[$(rm x)]' ]]; ls", "[[ -v 'a[$(rm x)]' ]]", "test -v 'a[$(rm x)]'", "'[' -v 'a[$(rm x)]' ]", "unset 'a[$(rm x)]'", "printf -v 'a[$(rm x)]' x", "read 'a[$(rm x)]'", "let 'a[$(rm x)]'", "declare -i 'x=a[$(rm x)]'", "exit 'a[$(rm x)]'", "((1))", "wait -p 'a[$(rm x)]'"},
	"co-process":            {"ls; coproc rm > f", "coproc rm > f", "coproc rm"},
	"comment":               {"ls # x", "# x", "ls # x \\\nrm -rf y", "ls #"},
	"backslash":             {`ls \x`, "ls \\\nrm", "ls \\\r\nrm -rf y", `l\s`, `ls "a\b"`, `ls \`},
	"unclosed":              {"ls 'a", `ls "a`, "ls $(", "ls `", "ls )", "ls {"},
	"odd characters":        {"ls\trm", "ls\rrm", "ls\x00rm", "ls\x1b[2K", "ls \u00a0x", "ls '\u00a0'", "ls '\u202e'", "ls '\u200b'", "ls \u3000x", "ls '\u3164'", "ls ü", "ls '\xff'", "\ufeffls", "ls '\u2028'", "ls 'a\nb'", "ls 'a\tb'"},
	"not a program":         {"%1", "%", "- rm x", "-x", "+x", "=ls", ": x", "@x", "if", "then", "time", "repeat", "foreach", "in"},
	"wrapper":               {"env", "env rm x", "sh -c ls", "/bin/sh x", "sudo ls", "xargs rm", "find . -delete", "python3.12 x.py", "perl5.36 x", "gtimeout 1 ls", "ENV rm", "python.exe x", "command ls", "builtin ls", "exec ls", "eval ls", ". x", "source x", "npx x", "awk 1", "sed w", "noglob ls", "export x", "alias x", "nocorrect ls", "at now", "[ x ]", "nohup ls", "./env x", "ssh host", "time ls", "trap x"},
	"too long":              {"cat " + strings.Repeat("x", 8<<10)},
}

func TestNotPlain(t *testing.T) {
	t.Parallel()
	for why, srcs := range notPlain {
		for _, src := range srcs {
			if got, ok := Plain(src); ok {
				t.Errorf("%s: %q is plain: %q", why, src, got)
			}
		}
	}
}

// what joins the commands found, guesses in brackets.
func what(a Analysis) []string {
	var out []string
	for _, c := range a.Commands {
		s := strings.Join(c.Words, " ")
		if c.Guess {
			s = "[" + s + "]"
		}
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

func TestCommands(t *testing.T) {
	t.Parallel()
	for src, want := range map[string][]string{
		"ls -la":                               {"ls -la"},
		"a | b && c; d & e":                    {"a", "b", "c", "d", "e"},
		"a $(b `c`) <(d) > $(e)":               {"a $(b `c`) <(d)", "b `c`", "c", "d", "e"},
		"f() { a; }; if b; then c; else d; fi": {"a", "b", "c", "d"},
		"for x in $(a); do b; done":            {"a", "b"},
		"(a; { b; }) ; ! c ; time d":           {"a", "b", "c", "d"},
		`r""m 'x y' \-f`:                       {"rm x y -f"},
		"cat <<E\n$(a)\nE":                     {"cat", "a"},
		"sh -c 'rm x; y'":                      {"sh -c rm x; y", "[rm x]", "[y]"},
		`env A=1 bash -c "sh -c 'rm x'"`:       {"env A=1 bash -c sh -c 'rm x'", "[sh -c rm x]", "[rm x]"},
		"PAGER='rm x' git log":                 {"[rm x]", "git log"},
		"{rm,-rf,x}":                           {"[rm,-rf,x]", "[rm -rf x]", "{rm,-rf,x}"},
		"export PAGER=evil":                    {"export PAGER=evil", "[export PAGER=evil]", "[export PAGER evil]"},
		"coproc rm > f":                        {"coproc rm > f", "[coproc rm]", "[f]"},
		"[[ -v 'a[$(rm x)]' ]]":                {"[[ -v 'a[$(rm x)]' ]]", "[[[ -v a[$]", "[-v a $]", "[rm x]", "[] ]]]"},
	} {
		a := Analyse(src)
		if a.Err != "" {
			t.Errorf("%q: %s", src, a.Err)
		}
		if diff := cmp.Diff(want, what(a)); diff != "" {
			t.Errorf("%q: %s", src, diff)
		}
	}
}

func TestUnreadableTextStillShowsItsWords(t *testing.T) {
	t.Parallel()
	for name, src := range map[string]string{
		"syntax":                     "ls 'x; \"rm\" -rf y",
		"python in an argument":      `python3 -c 'import os; subprocess.run(["rm","-rf","y"])'`,
		"comment ending in a joiner": "ls # x \\\nrm -rf y",
		"joiner with CR":             "ls \\\r\nrm -rf y",
		"split substitution":         "echo \"$\\\n(rm -rf y)\"",
		"closing a descriptor":       "<&-rm -rf y ls",
		"CR as blank":                "ls;\rrm -rf y",
		"too long":                   strings.Repeat("x ", 64<<10) + "; rm -rf y",
		"too deep":                   strings.Repeat("$(", 300) + "rm -rf y" + strings.Repeat(")", 300),
		"too many scripts":           strings.Repeat(`sh -c "$(`, 150) + "rm -rf y" + strings.Repeat(`)"`, 150),
		"not UTF-8":                  "\xff; rm -rf y",
	} {
		a := Analyse(src)
		if _, plain := Plain(src); plain || a.Err == "" && name != "python in an argument" {
			t.Errorf("%s: plain %v, err %q", name, plain, a.Err)
		}
		if !slices.ContainsFunc(a.Commands, func(c Command) bool { return c.Wrapper && hasRun(c.Words, "rm", "-rf", "y") }) {
			t.Errorf("%s: rm -rf y is not among %.200q", name, what(a))
		}
	}
}

func hasRun(words []string, want ...string) bool {
	for i := range words {
		if len(words)-i >= len(want) && slices.Equal(words[i:i+len(want)], want) {
			return true
		}
	}
	return false
}

func TestSpansPointIntoTheSource(t *testing.T) {
	t.Parallel()
	src := "echo ü; git push 'x y' && sh -c 'rm x'"
	a := Analyse(src)
	for i, want := range []string{"echo ü", "git push 'x y'", "sh -c 'rm x'", "sh -c 'rm x'"} {
		if got := src[a.Commands[i].Start:a.Commands[i].End]; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestWrapperByTable(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"git", "make", "docker", "npm", "go", "ls", "cat", "rm", "gs", "curl", "cd", "..", "echo", "gh"} {
		if IsWrapper(name) {
			t.Errorf("%s is taken for a wrapper", name)
		}
	}
}

// Deep and repetitive texts must neither overflow the stack nor take long.
func TestHostileTexts(t *testing.T) {
	t.Parallel()
	for _, part := range []string{"$(", "(", "{ ", "if ", "! ", "while ", "`", "\\`", "((", "$((", "${a", "\"$(", "a<<b\n", "env ", "sh -c '", "[[ ", "f() ", "case x in (", "a|", "<(", "{a,", "time ", "coproc ", "'", "\"", "&&"} {
		src := strings.Repeat(part, MaxSource/len(part))
		Analyse(src)
		if _, plain := Plain(src); plain {
			t.Errorf("%q repeated is plain", part)
		}
	}
}
