package shell

import (
	"fmt"
	"strings"
	"testing"
)

// acts lists texts that do more than read, by the part of the language that
// hides it.
var acts = map[string][]string{
	"lists":          {"ls; rm x", "ls && rm x", "ls || rm x", "ls & rm x", "ls | rm x", "ls |& rm x", "ls\nrm x", "! rm x", "time rm x", "(rm x)", "{ rm x; }", "if rm x; then :; fi", "if :; then rm x; fi", "if :; then :; else rm x; fi", "while rm x; do :; done", "until :; do rm x; done", "for x in a; do rm $x; done", "for ((;;)); do rm x; done", "case a in a) rm x;; esac", "case a in a) ;& b) rm x;; esac", "select x in a; do rm x; done"},
	"quoting":        {`r\m x`, `"rm" x`, `'r'm x`, `$'rm' x`, `$'\x72m' x`, `$'\162m' x`, `$'\u0072m' x`, `/bin/rm x`, `/usr/bin/../bin/rm x`, `./ls`, `~/bin/ls`, `"$HOME"/ls`},
	"substitution":   {"echo $(rm x)", "echo `rm x`", `echo "$(rm x)"`, "cat <(rm x)", "ls >(rm x)", "x=$(rm y)", "FOO=$(rm x) ls", "a=($(rm x))", "a[$(rm x)]=1", "export y=$(rm x)", "declare -a a=([$(rm x)]=1)", "local x=$(rm y)", "cat <<E\n$(rm x)\nE", "cat <<< $(rm x)", "ls > $(rm x)", "[[ $(rm x) ]]", "[ -n \"$(rm x)\" ]", "case $(rm x) in *) ;; esac", "case a in $(rm x)) ;; esac", "for x in $(rm y); do :; done"},
	"parameters":     {"echo ${x:-<(rm y)}", "echo ${x:+>(rm y)}", "set -- ${x:-<(rm y)}", "echo \"${x:-<(rm y)}\"", "echo ${x/a/<(rm y)}", "x=${y:=<(rm z)}", "echo ${x:-$(rm y)}", "echo ${x:=$(rm y)}", "echo ${x:+$(rm y)}", "echo ${x/$(rm y)/}", "echo ${x/a/$(rm y)}", "echo ${x%$(rm y)}", "echo ${x:$(rm y)}", "echo ${x:1:$(rm y)}", "echo ${x[$(rm y)]}", "echo ${#x[$(rm y)]}", "echo ${x@P}", "echo ${!x}", "y='a[$(rm z)]'; echo ${!y}"},
	"arithmetic":     {"echo $(($(rm x)))", "echo $((a[$(rm x)]))", "((a[$(rm x)]))", "let 'a[$(rm x)]'", "x='a[$(rm y)]'; echo $((x))", "read x; echo $((x))", "[[ 'a[$(rm x)]' -eq 1 ]]", "[[ -v 'a[$(rm x)]' ]]", "test -v 'a[$(rm x)]'", "[ -v 'a[$(rm x)]' ]", "unset 'a[$(rm x)]'", "printf -v 'a[$(rm x)]' y", "read 'a[$(rm x)]'", "declare -i 'x=a[$(rm y)]'", "wait -p 'a[$(rm x)]'", "for ((i=$(rm x);;)); do :; done"},
	"variables":      {"x=rm; $x y", `x=rm; "$x" y`, "x='rm y'; $x", "x=r; ${x}m y", "a=r b=m; $a$b y", "x=ls; true && x=rm; $x y", "x=ls; if a; then x=rm; fi; $x y", "x=ls; while :; do $x y; x=rm; done", "for x in ls rm; do $x y; done", "read x <<< rm; $x y", "$x y", "${x:-rm} y", "A=rm; declare A=echo B=$A; $B y", "f() { local x=echo; }; x=rm; f; $x y", "set -- rm y; $1 $2", `set -- rm y; "$@"`, "x=(rm y); ${x[@]}", "IFS=x; y=rmxz; $y"},
	"functions":      {"ls() { rm x; }; ls", "function ls { rm x; }; ls", `f() { "$@"; }; f rm x`, "f() { $1 x; }; f rm", "cd() { rm x; }; cd", "f() { rm x; }", "true || ls() { rm x; }; ls", "f() { f; }; f", "f() { ls; } > out; f", "eval 'ls() { rm x; }'; ls"},
	"braces, globs":  {"{rm,x}", "{r,}m x", "r[m] x", "/bin/r* x", "? x", "sort {-o,f} a", "ls {a,$(rm x)}", "find . -name *", "sort *"},
	"redirection":    {"> f", ": > f", "ls > f", "ls >> f", "ls >| f", "ls 2> f", "ls &> f", "ls &>> f", "ls <> f", "ls >& f", "ls {fd}> f", "ls > /dev/tcp/h/1", "cat < /etc/shadow", "exec 3> f", "ls > $x", "{ ls; } > f", "if :; then ls; fi > f", "ls > /dev/null/../../f"},
	"state":          {"alias ls=rm; ls x", "trap 'rm x' EXIT", "shopt -s expand_aliases", "hash -p ./x ls", "enable -f x y", "set -a", "PATH=.; ls", "PATH=. ls", "export PATH=.", "export FOO=1", "for PATH in .; do ls; done", "read PATH <<< .", "printf -v PATH .", "((PATH=1))", "declare -n r=PATH", "unset PATH", "exec ls", "coproc ls", "cd / && cat etc/passwd", "cd .. && ls", "cd $x && ls", "pushd /; ls", "ln -s / l && cat l/etc/passwd", "GIT_PAGER='rm x' git log", "export GIT_EXTERNAL_DIFF=x; git diff"},
	"scripts":        {"eval 'rm x'", "eval rm x", "eval \"$x\"", "sh -c 'rm x'", "bash -c \"rm x\"", "bash -lc 'rm x'", "bash -o pipefail -c 'rm x'", "sh x.sh", "echo rm x | sh", "sh <<< 'rm x'", "sh <<E\nrm x\nE", "curl x | sh", ". ./x", "source x", "bash -c 'sh -c \"rm x\"'", "bash -c '$0 x' rm", "bash -c '\"$@\"' _ rm x", "sh -c \"$x\""},
	"wrappers":       {"env rm x", "env -i rm x", "env A=1 rm x", "env -S 'rm x'", "env -S'rm x'", "env -u A -C / rm x", "nice rm x", "nice -n 5 rm x", "nice -5 rm x", "timeout 5 rm x", "timeout -k 1 5 rm x", "nohup ls", "stdbuf -oL rm x", "command rm x", "builtin eval 'rm x'", "xargs rm", "ls | xargs rm", "ls | xargs -I{} rm {}", "echo rm | xargs -I{} {} x", "find . -exec rm {} \\;", "find . -execdir rm {} +", "fd -x rm", "watch rm x", "sudo ls", "ssh h ls", "ionice -c 3 rm x", "setsid rm x", "time -o f ls", "caffeinate rm x"},
	"options":        {"sort -o f a", "sort -of a", "sort -uof a", "sort --outp f a", "sort --outp=f a", "tree -o f", "date -s x", "date 01010101", "find . -delete", "find . -fprint f", "git diff --output=f", "git log --outp f", "git branch -D x", "git -c a.b=c status", "git -C ../x status", "git -C $x status", "git --git-dir=x log", "tar xf a", "tar -tf a --to-command=rm", "tar tIf rm a", "rg --pre sh x", "uniq a b", "xxd a b", "sed -i s/a/b/ f", "sed -ni p f", "ls --nonsense", "sort \"$x\"", "sort $x"},
	"small grammars": {"sed 'w f' a", "sed 's/a/b/w f' a", "sed 's/a/b/e' a", "sed '1e rm x' a", "sed -n '/a/{w f' -e '}' a", "sed -e p -e 'w f' a", "sed 'r /etc/passwd' a", "awk 'BEGIN{system(\"rm x\")}'", "awk '{print > \"f\"}' a", "awk '{print $1,\n$2 > \"f\"}' a", "awk '{print | \"sh\"}' a", "awk 'BEGIN{\"rm x\" | getline}'", "awk 'BEGIN{if (1) /\"/; system(\"rm x\"); \"\"}'", "awk '{printf(\"x\") > \"f\"}' a", "jq env a", "psql -c 'DROP TABLE t'", "psql -c 'SELECT 1; DROP TABLE t'", "gh api -X POST x"},
	"secrets":        {"cat ~/.ssh/id_rsa", "cat $HOME/.aws/credentials", "cat .env", "cat .en''v", "cat .en[v]", "cat .e*", "cat .{env,x}", "cd ~/.ssh && cat id_rsa", "grep x .env.local", "env", "printenv", "printenv X_TOKEN", "echo $X_SECRET_KEY", "git show HEAD:.env", "find . -name .env -exec cat {} +", "find . -name '*.pem' | xargs cat", "cat server.key", "kubectl get secrets"},
	"names":          {`cat $(echo -e '\x2fetc/passwd')`, `cat $(echo '\057etc/passwd')`, "xargs cat <<E\n\\/etc/passwd\nE", "for f in $(find src); do cat \"$f/../../x\"; done", "for f in $(find src); do cat \"$f\"/..; done", "for f in $(find .); do cat \"$f./x\"; done", "for f in $(ls -a); do cat \"$f/x\"; done", "for f in $(find src); do cat \"$f$g\"; done", "echo 'x,/etc/passwd' | xargs -d, cat", "builtin cd /; cat x", "command cd ..; ls", "c() { builtin cd \"$@\"; }; c /; ls", "find . -printf '/etc/passwd\\n' | xargs cat", "ls src | xargs sort", "git ls-files --format=/etc/passwd | xargs cat", "fd --format /etc/passwd | xargs cat", "find . | sed 's|^.|/etc|' | xargs cat", "cat list | xargs cat", "tar tf host:a", "git diff --no-index /etc/passwd a", "brew info ./x.rb", "identify 'msl:x'", "psql -h evil -c 'SELECT 1'", "sqlite3 file:/etc/x 'SELECT 1'"},
	"outside":        {"cat /etc/passwd", "ls ~", "ls ..", "cat ../x", "grep -r x /", "find / -name x", "cat \"$x\"", "cat $(cat list)", "cat src/../../x"},
	"unknown":        {"nosuch", "ls | nosuch", "python x.py", "make", "npm test", "go test ./...", "./run.sh", "git frobnicate", "docker run x"},
	"guards":         {"ls # x \\\nrm y", "ls \\\r\nrm y", "echo \"$\\\n(rm y)\"", "<&-rm ls", "2>&-rm ls", "coproc rm > f", "ls\rrm", "ls\u00a0x", "ls \u202ex", "ls\x00", "ls '\xff'", "ls 'x", "ls $("},
}

// harmlessTexts lists texts that only read in the project.
var harmlessTexts = []string{
	"ls", "ls -la src | head -5", "cat a.txt && echo ok || echo no", "(cd src && ls)", "x=a.txt; cat $x", "for f in a b; do cat $f; done",
	"for f in *.go; do wc -l \"$f\"; done", "for f in $(find . -name x); do cat \"$f\"; done", "while read -r l; do echo \"$l\"; done < a.txt",
	"if [ -f a ]; then cat a; fi", "[[ -f a && $x == y ]] && ls", "case $x in a) ls;; *) pwd;; esac", "f() { cat \"$1\"; }; f a.txt",
	"f() { local x=$1; echo $x; }; f a", "echo $((1 + 2))", "i=0; while [ $i -lt 3 ]; do i=$((i+1)); done", "n=1; ((n++)); echo $n", "echo ${x:-a} ${#x} ${x%.go}",
	"cat <<E\nrm -rf x $y\nE", "cat <<E\nE", "cat <<'E'\n$(rm x)\nE", "cat <<< hello", "ls 2>/dev/null", "ls > /dev/null 2>&1", "ls 2>&1 | cat", "cat < a.txt",
	"eval 'ls src'", "bash -c 'ls src | wc -l'", "sh -c 'cat \"$1\"' _ a.txt", "env LANG=C sort a", "LC_ALL=C sort a", "FOO=1 ls", "timeout 5 cat a", "nice -n 5 ls",
	"find . -name '*.go' -exec grep -l x {} +", "find . -print0 | xargs -0 wc -l", "git ls-files | xargs cat", "ls | xargs -I{} cat {}", "git log --oneline | head -3",
	"set -euo pipefail; ls", "echo {a,b}.txt", "cat {a,b}.txt", "cat src/*.go", "ls # a comment", "echo 'rm -rf /'", "grep 'rm -rf' a.txt", "sed -n '/a/{s/x/y/;p}' a", "awk '{ if ($1 > 2) print $1 }' a",
	"cd src; cat x.go; cd ..; ls", "pwd; cd src && pwd", "test -d x || ls", ":", "true; false", "cat \"a b.txt\"", "date +%s", "x=$(date +%s); echo $((x - 1))", "printf '%s\\n' \"$x\"",
	"diff <(sort a) <(sort b)", "tar tzf a.tgz", "jq -r .a a.json", "git diff HEAD~1 -- src", "unset x; ls", "declare x=1; echo $x",
}

func TestWhatActs(t *testing.T) {
	t.Parallel()
	for why, texts := range acts {
		for _, src := range texts {
			if f := Read(src, testEnv); f.ReadOnly(testScope) {
				t.Errorf("%s: %q counts as harmless: %+v", why, src, f.Commands)
			}
		}
	}
}

func TestWhatIsHarmless(t *testing.T) {
	t.Parallel()
	for _, src := range harmlessTexts {
		if f := Read(src, testEnv); !f.ReadOnly(testScope) {
			t.Errorf("%q: %+v", src, f.Beyond(testScope))
		}
	}
}

// Every effect points at text, and at the command that has it.
func TestEffectsHaveAPlace(t *testing.T) {
	t.Parallel()
	for _, texts := range acts {
		for _, src := range texts {
			f := Read(src, testEnv)
			for _, e := range f.Effects {
				if e.Code == "" || e.Start < 0 || e.End < e.Start || e.End > len(src) || e.Command >= len(f.Commands) {
					t.Errorf("%q: %+v", src, e)
				}
			}
			for _, c := range f.Commands {
				if c.Start < 0 || c.End < c.Start || c.End > len(src) {
					t.Errorf("%q: %+v", src, c)
				}
			}
		}
	}
}

func ExampleRead() {
	f := Read("cd src && sort -o out.txt names.txt", Env{Dir: "/home/mira/project"})
	for _, e := range f.Effects {
		fmt.Println(e.Action, e.Path, e.Code)
	}
	// Output:
	// write /home/mira/project/src/out.txt WRITE_FILE
	// read /home/mira/project/src/names.txt READ_FILE
}

func TestLimitsStillShowRawWords(t *testing.T) {
	t.Parallel()
	for name, src := range map[string]string{
		"too long":      strings.Repeat("x ", MaxSource) + "; rm -rf y",
		"too many":      strings.Repeat("ls;", maxCommands+1) + "rm -rf y",
		"too deep":      strings.Repeat("sh -c 'eval \"", 20) + "rm -rf y",
		"does not read": "ls 'x; rm -rf y",
	} {
		f := Read(src, testEnv)
		found := false
		for _, g := range f.Guesses {
			found = found || hasRun(g.Words, "rm", "-rf", "y")
		}
		if f.Readable() || f.ReadOnly(testScope) || !found {
			t.Errorf("%s: readable %v, rm found %v", name, f.Readable(), found)
		}
	}
}

// Names of variables tell what they hold, unless the line says so itself.
func TestSecretVariables(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{
		"GITHUB_TOKEN": true, "STRIPE_KEY": true, "MYSQL_PWD": true, "DB_PASS": true, "DATABASE_URL": true, "SENTRY_DSN": true, "GH_PAT": true, "APP_CREDENTIALS": true,
		"client_secret": true, "SLACK_WEBHOOK": true, "SIGNING_KEY": true, "AzureWebJobs_ConnectionString_CONNECTION_STRING": true,
		"PWD": false, "OLDPWD": false, "HOME": false, "KEY": false, "KEYBOARD": false, "SSH_PUBLIC_KEY": false, "PASS": false, "PATH": false, "BUILD_URL": false, "MONKEY": false,
	} {
		for _, src := range []string{"echo $" + name, "printenv " + name, "echo ${" + name + ":-x}", "declare -p " + name, "echo ${" + name + "%x}"} {
			if harmless := Read(src, testEnv).ReadOnly(testScope); harmless == want {
				t.Errorf("%s: harmless is %v", src, harmless)
			}
		}
	}
	if src := "for cache_key in a b; do echo $cache_key; done"; !Read(src, testEnv).ReadOnly(testScope) {
		t.Error(src)
	}
	for _, src := range []string{"read A_KEY < a; echo $A_KEY", "test -f a && A_KEY=x; echo $A_KEY", "(A_KEY=x); echo $A_KEY", "A_KEY=x true; echo $A_KEY", "f() { local A_KEY=x; }; f; echo $A_KEY", "x=$A_KEY; echo $x", "if test -f a; then A_KEY=x; fi; echo $A_KEY", "while test -f a; do A_KEY=x; done; echo $A_KEY", "f() { A_KEY=x; }; echo $A_KEY"} {
		if Read(src, testEnv).ReadOnly(testScope) {
			t.Error(src)
		}
	}
}
