package shell

import (
	"strings"
	"testing"
)

// neverRemembered are plain commands, or wrappers, that a click must not make
// permanent, by what would go wrong.
var neverRemembered = map[string][]string{
	"rule 13: a wrapper or a shell": {
		"env ls", "busybox ls", "sh -c ls", "npx tsc", "sudo ls", "doas ls", "xargs rm", "timeout 5 ls", "nice ls", "nohup ls", "watch ls", "parallel ls",
		"/bin/sh x", "bash x.sh", "ksh93 x", "uvx ruff", "pipx run x", "bunx x", "pnpx x", "time ls", "command ls", "exec ls", "ssh host ls", "find . -delete",
		"arch ls", "gosu x ls", "linux64 ls", "hyperfine ls", "nix run x", "wsl ls", "ccache gcc x.c", "aws-vault exec x", "scp a b", "gstdbuf ls",
	},
	"an interpreter": {
		"python3 x.py", "python3.12 -m x", "node x.js", "deno run x", "bun x", "ruby x", "perl x", "php x", "lua5.4 x", "awk 1 f", "gawk 1 f", "sed s/a/b/ f", "ts-node x",
		"R -f x", "psql -c x", "sqlite3 db .dump", "m4 x", "less x", "man ls",
	},
	"another agent":             {"claude -p x", "codex exec x", "gatelatch allow x"},
	"trap 11: a script by path": {"./x.sh", "/usr/local/bin/x", "bin/x y", "../x"},
	"a subcommand that runs": {
		"docker run x ls", "docker --context c exec x ls", "podman exec x ls", "kubectl exec pod ls", "kubectl -n x run y", "npm exec x", "pnpm dlx x", "yarn dlx x", "npm init x",
		"uv run x", "poetry run x", "bundle exec x", "conda run x", "go run x.go", "go generate", "cargo run", "dotnet run", "gh alias list", "gcloud compute ssh x", "ip netns exec a ls",
		"cmake -P x.cmake", "cmake -E env ls", "mise x ls", "rustup run stable ls", "fly ssh console", "adb shell ls",
	},
	"trap 7: git with settings or an alias": {
		"git -c alias.x=ls x", "git -c core.pager=ls log", "git --config-env=a=b log", "git --exec-path=x log", "git -C x log", "git --git-dir=x log", "git -p log", "git lg", "git bisect run ls",
		"git submodule foreach ls", "git rebase -x ls", "git rebase -ix ls", "git rebase --exec=ls", "git config alias.x ls", "git difftool -x ls", "git filter-branch --tree-filter ls",
		"git fetch ext::sh", "git push --receive-pack=x", "git grep -Oless x", "git clone -c a=b x", "git init --template=x", "GIT lg", "git.exe lg",
	},
	"rule 15: an option that runs, also abbreviated": {
		"git fetch --upload-pa=x", "git log --ext-d", "git push --exe=x", "git grep --open=x y", "sort --compress-prog=sh f", "sort --compress=sh f", "tar --checkpoint-act=exec=ls -cf a b", "tar xIf zstd a",
		"tar -Izstd -xf a", "tar --to-c=x -xf a", "rg --pre=x y", "rg --pre x y", "rsync -avze ssh a b", "rsync --rsh=x a b", "go test -exec x", "go build -toolexec=x", "go vet -vettool=x", "split --filter=x f",
		"zip -TT x a b", "gcc -wrapper x y.c", "npm test --script-shell=x", "cargo build --config x", "hg --config x log", "wget --use-ask=x y", "tcpdump -zx", "curl -sK f", "curl --conf=f", "wget -e x=y u", "helm template --post-renderer x",
	},
}

func TestRuns(t *testing.T) {
	t.Parallel()
	for why, srcs := range neverRemembered {
		for _, src := range srcs {
			if got := Runs(strings.Fields(src)); got == "" {
				t.Errorf("%s: %s may be remembered", why, src)
			}
		}
	}
	if Runs(nil) == "" {
		t.Error("no command may be remembered")
	}
	for _, src := range []string{
		"ls -la", "git push origin main", "git push -u origin x", "git --no-pager diff", "git", "git commit -m x", "git clean -fdx", "git switch -c x", "git branch --remote", "make test", "npm test", "npm run lint",
		"go test ./internal", "go build -o x", "cargo fmt --check", "pytest -x", "docker ps", "docker rm x", "kubectl get pods", "terraform plan", "tar czf a b", "tar -xf a", "rsync -av a b", "rm -rf build", "curl -s https://x",
		"black --check .", "cmake -DCMAKE_BUILD_TYPE=Release", "rg x", "sort -u f", "grep -e x f", "some-tool --flag", "pnpm --filter web test", "vitest --run",
	} {
		if got := Runs(strings.Fields(src)); got != "" {
			t.Errorf("%s: %s", src, got)
		}
	}
}

func TestBuilds(t *testing.T) {
	t.Parallel()
	for program, want := range map[string]bool{"make": true, "gmake": true, "npm": true, "pytest": true, "go": true, "git": false, "ls": false, "MAKE": true} {
		if got := Builds(program); got != want {
			t.Errorf("%s: got %v", program, got)
		}
	}
}
