package shell

import "testing"

// disguised lists texts that were once taken for harmless, by what they got by with.
var disguised = map[string][]string{
	"echo's escapes":     {`cat $(echo -e '\x2fetc/passwd')`, `cat $(echo -en '\057etc/passwd')`, `sh -c 'cat $(echo "\057etc/passwd")'`, `echo -e '\x2fetc/passwd' | xargs cat`},
	"builtin, command":   {"builtin cd /etc; cat passwd", "command cd /etc && cat passwd", "cd() { builtin cd /etc; }; cd src; cat passwd", "x=a; builtin read x <<< /etc/passwd; cat $x", "x=a; command eval 'x=/etc/passwd'; cat $x", "rm() { :; }; command unset -f rm; rm x"},
	"variables in front": {"x=a; x=/etc/passwd eval 'cat $x'", "f() { cat $x; }; x=a; x=/etc/passwd f", "f() { ls; }; PATH=. f", "f() { ls; }; LD_PRELOAD=./x.so f"},
	"gone functions":     {"rm() { :; }; unset rm; rm x", "rm() { :; } | cat; rm x", "cat() { :; } | ls; cat /etc/passwd"},
	"bash's own options": {"bash -k -c 'cat a LD_PRELOAD=./x.so'", "bash -kc 'git log GIT_PAGER=./x'", "bash -o keyword -c 'cat a LD_PRELOAD=./x.so'", `bash -O xpg_echo -c 'ls'`, "bash +O sourcepath -c ls", "bash -P -c 'cd a && ls'"},
	"folders not there":  {"cd gone/b/c; cat ../../../x", "cd gone/b && ls; cat ../../x", "cd gone/b || true; cat ../../x", "cd gone/b; cd src; cat ../../x", "cd gone/b; cd ../..; cat x", "cd gone/b; bash -c 'cat ../../x'", "cd gone/b; x=$(pwd); cat $x/../../x", "cd gone/b; cat $PWD/../../x", "! cd gone/b && cat ../../x", "cd gone/b; ls && cat ../../x", "cd gone; terraform validate", "cd gone; git -C .. status"},
	"folders":            {"cd -P l && cd ../.. && cat x", "cd a/b/c && cat */../../../../../../etc/passwd", "cd a/b/c/d; cat .*/.*/.*/.*/.*/x"},
	"awk's long lines":   {"awk 'BEGIN{print 1 &&\n1 > \"f\"}'", "awk 'BEGIN{print 1 ||\n1 > \"f\"}'", "awk 'BEGIN{print 1 ?\n2 :\n3 > \"f\"}'"},
	"zsh's variables":    {"path=(.); ls", "path=.; ls", "for path in src; do ls; done", "fpath=(.); ls", "aliases=(ls 'rm x')\nls", "functions=(ls 'rm x'); ls", "chpwd_functions=(rm); cd src", "cdpath=(/); cd etc; cat passwd", "module_path=(.)", "commands=(ls ./x); ls"},
	"all variables":      {"set", "declare -p", "declare", "typeset", "export", "export -p", "declare -x", "readonly -p", "declare -p AWS_SECRET_ACCESS_KEY"},
	"output elsewhere":   {"$(echo ls >/dev/null) rm x", "$({ echo ls; } >/dev/null) rm x", "$(echo ls | cat >&2) rm x", "cat $(pwd >/dev/null)/etc/passwd", "f() { echo ls; } >/dev/null; $(f) rm x", "$(bash -c 'echo ls &>/dev/null') rm x"},
	"several in quotes":  {`f() { grep "$@"; }; f $(cat list)`, `f() { grep "x$@"; }; f $(cat list)`, `bash -c 'grep "$@"' x $list`},
	"empty locals":       {"x=ls; f() { local x; $x rm a; }; f", "x=ls; f() { declare -x x; $x rm a; }; f", "x=ls; f() { typeset -a x; $x rm a; }; f"},
	"braces":             {"declare x={a,/etc/passwd}; cat $x", "f() { local x={ls,rm}; $x a; }; f", "export x={a,/etc/passwd}; cat \"$x\""},
	"numbers":            {"declare -i x; x='a[$(rm y)]'", "declare -i x=1; read x <<< 'a[$(rm y)]'", "f() { local -i x; x='a[$(rm y)]'; }; f", "typeset -ai x; x+=('a[$(rm y)]')"},
	"fixed variables":    {"readonly x=/etc/passwd; f() { local x=a; cat $x; }; f", "declare -r x=/etc/passwd; f() { local x=a; cat $x; }; f", "x=/etc/passwd; readonly x; for x in a; do cat $x; done"},
	"secret variables":   {"echo ${X_TOKEN:0:5}", "echo ${X_TOKEN@Q}", "echo ${X_TOKEN%x}", "echo ${X_TOKEN:-x}", "echo ${X_TOKEN/a/b}", "x=X_TOKEN; echo ${!x}", "echo ${X_TOKEN^^}"},
}

func TestDisguises(t *testing.T) {
	t.Parallel()
	for why, texts := range disguised {
		for _, src := range texts {
			if f := Read(src, testEnv); f.ReadOnly(testScope) {
				t.Errorf("%s: %q counts as harmless: %+v", why, src, f.Commands)
			}
		}
	}
}
