package shell

import (
	"strings"
	"sync"
)

// evaluators run or evaluate what their arguments say, or are agents that do.
// A rule may allow them, for it was written by hand; no click remembers them.
var evaluators = set(`
	ts-node swc-node esno jiti zx coffee bb clj clojure kotlin kotlinc jshell racket ocaml erl elixir iex swipl
	octave matlab r gnuplot maxima gp m4 dc tcc crystal nim dart raku hy ipython jupyter maple sage
	sqlite sqlite3 psql mysql mariadb mongo mongosh duckdb cqlsh osqueryi

	scp sftp sshfs ssh-copy-id autossh sshpass mosh-server telnet nc ncat netcat wsl
	man less more most info pg lynx links w3m mutt irssi
	arch setarch linux32 linux64 i386 x86_64 chpst softlimit setuidgid gosu su-exec tini dumb-init s6-setuidgid
	runcon daemonize daemon cpulimit eatmydata faketime ld.so ld-linux-x86-64.so qemu-x86_64 qemu-aarch64 wine box64
	systemd-inhibit systemd-nspawn machinectl dtach abduco reptyr zellij byobu tmate detach setlock lckdo
	hyperfine multitime perf-stat ccache distcc icecc rtk doppler op aws-vault chamber teller sops infisical dotenvx
	nix nix-shell nix-build guix devbox devenv toolbox distrobox flatpak snap

	ansible ansible-console salt salt-call pssh pdsh clush dsh fab capistrano

	claude codex gemini qwen cursor-agent aider opencode goose amp crush copilot q kiro gatelatch gatelatch-hook`)

// runsSubcommand are words that make an ordinary program run what the rest
// says. They are looked for at any place: an option before them may take one.
var runsSubcommand = sync.OnceValue(func() map[string]map[string]bool {
	return subcommands(map[string]string{
		"docker podman nerdctl":                  "run exec build buildx create import load plugin commit debug sandbox",
		"docker-compose podman-compose":          "run exec",
		"ctr crictl buildah lxc incus runc crun": "run exec create shell from",
		"kubectl oc k3s kubecolor":               "exec run debug cp config attach edit plugin rsh krew",
		"helm":                                   "plugin",
		"npm pnpm yarn corepack cnpm":            "exec x dlx init create explore config set edit node",
		"uv rye pdm hatch poetry pipenv":         "run x tool tools shell exec script env",
		"conda mamba micromamba pixi":            "run exec shell",
		"pip":                                    "config",
		"bundle bundler gem":                     "exec",
		"rbenv pyenv nodenv asdf mise rtx volta nvm fnm sdk jenv goenv": "exec x run shell watch",
		"rustup":                  "run",
		"cargo":                   "run r watch script install miri expand config alias",
		"go":                      "run generate tool env",
		"dotnet":                  "run exec script fsi watch tool",
		"swift":                   "run repl sdk",
		"stack cabal":             "run exec ghci runghc script repl",
		"mix rebar3":              "run eval escript shell",
		"composer":                "exec run-script run config",
		"bazel bazelisk":          "run",
		"cmake":                   "-P -E",
		"gh glab hub":             "alias extension ext extensions codespace cs config copilot",
		"gcloud aws az":           "ssh ssm run-command execute-command ecs-exec scp alias config configure",
		"heroku fly flyctl":       "run ssh console exec",
		"vagrant":                 "ssh ssh-config winrm powershell",
		"adb":                     "shell exec-out exec-in",
		"ip":                      "exec",
		"systemctl launchctl":     "edit submit asuser bsexec",
		"hg svn jj bzr fossil sl": "config alias debugshell shell hook run",
		"terraform tofu":          "console",
		"vault consul nomad":      "exec alloc agent ssh",
		"kind minikube":           "ssh kubectl",
		"rails":                   "runner r console c dbconsole db",
		"brew":                    "sh irb ruby exec bundle",
	})
})

// runsLetters are one-letter options that take a program.
var runsLetters = map[string]string{
	"rsync": "e", "tar": "IF", "bsdtar": "IF", "zip": "T", "tcpdump": "z", "tshark": "X", "pandoc": "F", "curl": "K", "wget": "e",
}

// runsOptions are long options that take a program, or something that can name
// one, whatever program they are of.
var runsOptions = set(`
	exec execdir ok okdir exec-batch eval pre pager editor html rsh to-command use-compress-program compress-program
	toolexec vettool wrapper fplugin script-shell node-options shell shell-escape shell-command upload-pack receive-pack
	ext-diff extcmd open-files-in-pager diff-cmd diff3-cmd editor-cmd hostname-bin use-askpass post-renderer lua-filter
	exec-path init-hook ssh-command proxy-command on-change on-success on-failure`)

// runsBeginnings are such options of programs that take the beginning of an
// option for all of it, or give the name another meaning than others do.
var runsBeginnings = map[string][]string{
	"git":    {"upload-pack", "receive-pack", "exec", "ext-diff", "extcmd", "open-files-in-pager"},
	"tar":    {"to-command", "use-compress-program", "checkpoint-action", "info-script", "new-volume-script", "rsh-command", "rmt-command"},
	"bsdtar": {"use-compress-program"},
	"sort":   {"compress-program"},
	"split":  {"filter"},
	"rsync":  {"rsh", "rsync-path"},
	"diff3":  {"diff-program"},
	"sdiff":  {"diff-program"},
	"rg":     {"pre", "hostname-bin"},
	"wget":   {"use-askpass", "execute", "config"},
	"curl":   {"config"},
	"zip":    {"unzip-command"},
	"pandoc": {"filter", "lua-filter", "defaults"},
	"cargo":  {"config"},
	"hg":     {"config"},
	"jj":     {"config", "config-file"},
	"svn":    {"config-option", "config-dir"},
}

var gitItself = set("git")

// gitHarmless are options in front of a subcommand that change nothing but how
// it is shown.
var gitHarmless = set("--no-pager --no-optional-locks --literal-pathspecs --no-replace-objects")

// gitSubcommands are Git's own, which no alias replaces, without those that run
// their arguments, copy hooks or write configuration.
var gitSubcommands = set(`
	add commit push pull fetch status diff log show branch checkout switch restore merge rebase stash tag reset rm mv
	cherry-pick revert clean rev-parse rev-list ls-files ls-tree ls-remote blame describe shortlog reflog grep
	cat-file show-ref merge-base name-rev for-each-ref symbolic-ref remote worktree count-objects diff-tree diff-files
	diff-index check-ignore whatchanged range-diff format-patch fsck gc prune version`)

var builders = set(`
	make remake bmake pmake ninja cmake ctest meson scons waf bazel bazelisk buck buck2 pants please just task rake rails thor
	mage gradle mvn ant sbt mill lein bloop npm pnpm yarn cnpm go cargo rustc pytest py.test tox nox invoke pip uv poetry pipenv
	pdm hatch rye conda mamba pixi bundle bundler gem composer phpunit pest rspec cucumber jest vitest mocha ava tap cypress
	playwright eslint prettier stylelint tsc webpack vite rollup esbuild parcel turbo nx lerna rush gulp grunt ng next nuxt
	astro dotnet msbuild nuget swift xcodebuild pod fastlane flutter mix rebar3 stack cabal dune opam zig
	terraform tofu terragrunt pulumi cdk sam serverless ansible-playbook packer vagrant docker podman nerdctl docker-compose podman-compose helmfile helm
	pre-commit lefthook husky act tilt skaffold hugo jekyll mkdocs sphinx-build latexmk pdflatex xelatex lualatex
	mypy pylint coverage behave robot bats shellspec autoconf automake autoreconf`)

func subcommands(lists map[string]string) map[string]map[string]bool {
	out := map[string]map[string]bool{}
	for programs, words := range lists {
		for program := range set(programs)() {
			out[program] = map[string]bool{}
			for _, word := range strings.Fields(words) {
				out[program][word] = true
			}
		}
	}
	return out
}
