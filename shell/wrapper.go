package shell

import "strings"

// wrappers are programs and builtins whose arguments may be run or evaluated.
// No rule can allow one by its words: what would run is inside of them. The
// table need not be complete to be useful, but each name missing from it is a
// hole for whoever allows that name.
var wrappers = set(`
	sh bash rbash zsh dash ash ksh mksh csh tcsh fish elvish nu xonsh busybox toybox
	pwsh powershell cmd

	python pypy perl ruby irb node nodejs deno bun tsx lua luajit php tclsh wish expect
	osascript awk gawk mawk nawk sed ed ex vi vim nvim view emacs gdb lldb Rscript julia
	java scala groovy guile sbcl ghci runghc ipython

	npx bunx pnpx uvx pipx

	env sudo doas su run0 pkexec runuser setpriv capsh sg newgrp
	xargs parallel find fd timeout nice nohup setsid stdbuf ionice chrt taskset flock
	time watch entr script rlwrap unbuffer caffeinate chroot unshare nsenter bwrap
	firejail proot fakeroot strace ltrace systemd-run start-stop-daemon at batch cron
	crontab xdg-open open start ssh rsh mosh tmux screen socat dbus-run-session
	xvfb-run proxychains proxychains4 torsocks catchsegv numactl prlimit choom
	cgexec valgrind perf watchexec nodemon concurrently direnv dotenv xcrun fzf sk

	command builtin exec eval source . trap alias unalias coproc noglob nocorrect - --

	export declare typeset local readonly nameref integer float let set unset shopt
	setopt unsetopt emulate enable disable hash rehash bind complete compgen compopt
	fc history mapfile readarray read getopts wait test [ [[ printf print vared
	zmodload autoload functions zle zstyle zparseopts zcompile sched exit return
	break continue shift logout bye ulimit limit`)

// IsWrapper reports whether a program, given by name or path, runs or evaluates
// its arguments. It knows version numbers (python3.12), GNU names on other
// systems (gtimeout), and takes case for nothing: some file systems do.
//
// The last group of the table are builtins. Bash runs the substitution in
// test -v 'a[$(rm x)]', in the same way unset, read, printf -v and wait -p; zsh
// evaluates numbers of printf, exit and shift. Others change how the shell that
// stays reads the next command.
func IsWrapper(program string) bool {
	_, found := lookUp(wrappers(), program)
	return found
}

// lookUp finds a program in a table by any of the names it may go by.
func lookUp[V any](table map[string]V, program string) (v V, found bool) {
	name := strings.TrimSuffix(strings.ToLower(base(program)), ".exe")
	short := strings.TrimRight(name, "0123456789.-")
	for _, n := range []string{name, short, strings.TrimPrefix(name, "g"), strings.TrimPrefix(short, "g")} {
		if v, found = table[n]; found {
			return v, true
		}
	}
	return v, false
}

// set is names in lower case.
func set(words string) func() map[string]bool { return names(strings.ToLower(words)) }
