package shell

import (
	"slices"
	"strings"
	"testing"
)

func TestVerbs(t *testing.T) {
	t.Parallel()
	for src, want := range map[string]int{
		"git push origin main": 2, "git --no-pager log -5": 3, "git remote -v": 2, "git remote add a b": 3, "git": 1,
		"npm run build -- --watch": 3, "npm run": 2, "npm run --silent build": 2, "npm test": 2, "npm view react": 2,
		"docker compose up -d": 3, "docker ps": 2, "aws s3 ls b": 3, "aws ec2 describe-instances": 3, "gh pr view 1": 3, "kubectl get pods": 2,
		"cat a": 1, "go test ./...": 2,
		"git frobnicate": 0, "frobnicate now": 0, "": 0, "git -C x log": 1, "git -c a=b log": 1,
	} {
		if got := Verbs(strings.Fields(src)); got != want {
			t.Errorf("%s: got %d, want %d", src, got, want)
		}
	}
}

func TestBounded(t *testing.T) {
	t.Parallel()
	for src, want := range map[string]bool{
		"git status": true, "git commit -m": true, "git add": true, "git diff": true, "git log": true, "git branch": true, "git stash list": true,
		"gh pr view": true, "docker ps": true, "kubectl get": true, "aws s3 ls": true, "ls": true, "cat": true, "grep": true,
		"npm run test": true, "npm test": true, "go test": true, "cargo build": true, "yarn run lint": true,

		"git": false, "git push": false, "git fetch": false, "git reset": false, "git clean": false, "git rm": false, "git checkout": false,
		"git remote": false, "git stash": false, "git bisect run": false, "git submodule foreach": false, "git statu": false,
		"gh": false, "gh pr": false, "gh pr create": false, "npm": false, "npm run": false, "npm run -s": false, "npm install": false, "npm exec": false,
		"go run": false, "go generate": false, "cargo run": false, "cargo install": false, "docker run": false, "docker compose up": false,
		"make": false, "make test": false, "rm": false, "mv": false, "cp": false, "tee": false, "chmod": false, "kill": false, "curl": false, "dd": false, "tar": false, "gzip": false,
		"sudo": false, "env": false, "xargs": false, "timeout 5": false, "bash": false, "python3": false, "node": false, "sed": false, "awk": false,
		"find": false, "cd": false, "export": false, "ssh": false, "psql": false, "terraform apply": false, "kubectl delete": false, "aws s3 rm": false,
		"frobnicate": false, "": false,
	} {
		if got := Bounded(strings.Fields(src)); got != want {
			t.Errorf("%s: got %v", src, got)
		}
	}
}

// What the files of a project say differs from project to project: it is never
// remembered everywhere.
func TestWhatRunsProjectFilesBuilds(t *testing.T) {
	t.Parallel()
	var check func(program string, s *spec)
	check = func(program string, s *spec) {
		if s.recall >= recallProject && !Builds(program) {
			t.Errorf("%s %s", program, s.name)
		}
		for i := range s.commands {
			check(program, &s.commands[i])
		}
	}
	for _, n := range specNames {
		check(n.name, &specTable[n.at])
	}
}

func TestNeighbours(t *testing.T) {
	t.Parallel()
	for src, want := range map[string]string{
		"git commit -m fix": "git commit --amend --no-verify", "git branch": "git branch -D x", "go test": "go test -o x",
		"npm run build": "npm run build -- --require ./x.js", "cat a": "cat /etc/passwd", "grep a b": "grep x /etc/passwd", "git diff a": "git diff --ext-diff",
	} {
		if got := Neighbours(strings.Fields(src)); !slices.Contains(got, want) || len(got) > maxNeighbours {
			t.Errorf("%s: got %q", src, got)
		}
	}
	for _, src := range []string{"", "frobnicate", "git remote", "npm run"} {
		if got := Neighbours(strings.Fields(src)); got != nil {
			t.Errorf("%s: got %q", src, got)
		}
	}
}
