package policy

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/gatelatch/gatelatch"
)

const (
	once    = gatelatch.Once
	thisRun = gatelatch.ForSession
	here    = gatelatch.ForProject
	always  = gatelatch.Always
)

func TestRemember(t *testing.T) {
	t.Parallel()
	top := tree(t)
	project := top + "/project"
	for _, tt := range []struct {
		tool, value string
		scope       gatelatch.Scope
		want        string // of the matcher, or in the error behind a "!"
	}{
		{"Bash", "git push origin main", thisRun, "Bash(git push origin main)"},
		{"Bash", "git push origin main", always, "Bash(git push origin main)"},
		{"Bash", "  npm  run 'a b' ", here, "Bash(npm  run 'a b')"},
		{"Bash", "grep 'a*b' x", always, "Bash(grep 'a*b' x)"},
		{"Bash", "grep -- '*' x", always, "Bash(grep -- '*' x)"},
		{"Bash", "make test", here, "Bash(make test)"},
		{"Bash", "make test", always, "!runs what the files of a project say"},
		{"Bash", "npx tsc", here, "!npx runs what its arguments say"},
		{"Bash", "ls", once, "!not remembered"},
		{"Bash", "ls", "", "!not remembered"},
		{"Bash", "ls", "world", "!none of session, project, always"},
		{"Bash", "", always, "!no command to remember"},
		{"Bash", "ls 'x", always, "!can't be read"},
		{"Bash", "git add .git/config", always, "!asked each time: protected path"},
		{"Bash", "git push -f", always, "!the rule Bash(git push -f) asks every time"},
		{"Bash", "rm x", always, "!the rule Bash(rm:*) denies this"},
		{"Bash", "pwd", always, "!the rule Bash(pwd) allows this already"},

		{"Edit", "src/a.go", thisRun, "Edit(" + project + "/**)"},
		{"Write", "new/b.go", thisRun, "Edit(" + project + "/**)"},
		{"MultiEdit", "in/a.go", thisRun, "Edit(" + project + "/**)"},
		{"NotebookEdit", top + "/alias/n.ipynb", thisRun, "Edit(" + project + "/**)"},
		{"Edit", "in/a.go", here, "Edit(" + project + "/src/a.go)"},
		{"Write", "src/a.go", always, "Write(" + project + "/src/a.go)"},
		{"Write", "a[1]{x}?.go", always, `Write(` + project + `/a\[1\]\{x\}\?.go)`},
		{"Write", "a*b", here, `Write(` + project + `/a\*b)`},
		{"Edit", "../secret/s.txt", thisRun, "!not inside the project"},
		{"Edit", "out/s.txt", thisRun, "!not inside the project"},
		{"Edit", "out/../x", thisRun, "!not inside the project"},
		{"Edit", "../secret/s.txt", here, "!not inside the project"},
		{"Edit", "out/s.txt", here, "!not inside the project"},
		{"Edit", "../secret/s.txt", always, "Edit(" + top + "/secret/s.txt)"},
		{"Edit", ".git/config", thisRun, "!protected path"},
		{"Write", "config/x", here, "!protected path"},
		{"Write", "src/a.go ", here, "!blank"},
		{"Write", "loop", thisRun, "!can't be resolved"},
		{"Write", "", thisRun, "!no path"},
		{"Read", "../secret/s.txt", thisRun, "Read(" + top + "/secret/s.txt)"},
		{"Read", "out/s.txt", always, "Read(" + top + "/secret/s.txt)"},
		{"Read", ".env", always, "!the rule Read(**/.env*) asks every time"},
		{"LS", "src", here, "LS(" + project + "/src)"},
		{"LS", "src", always, "!not always"},
		{"LS", "../secret", thisRun, "!not inside the project"},

		{"WebFetch", "https://Docs.example.com/x", always, "WebFetch(domain:docs.example.com)"},
		{"WebFetch", "http://localhost:80", always, "WebFetch(domain:localhost)"},
		{"WebFetch", "http://u@example.com", always, "!asked each time"},
		{"Skill", "pdf", here, "Skill(pdf)"},
		{"Skill", "pdf", always, "!another project"},
		{"Skill", "", here, "!empty"},
		{"Skill", "p\u200bdf", here, "!do not show"},
		{"mcp__x__y", "z", thisRun, "mcp__x__y"},
		{"mcp__x__y", "z", here, "mcp__x__y"},
		{"mcp__x__y", "z", always, "!another project may have another server"},
		{"mcp__x__run_command", "z", here, "!run what its arguments say"},
		{"mcp__x__y", ".git/config", here, "!protected path"},
		{"WebSearch", "z", always, "WebSearch"},
		{"apply_patch", "/h/.bashrc", always, "!protected path"},
		{"Odd Tool", "z", always, "!no tool name"},
		{"Bash(ls)", "z", always, "!does not cover"},
		{"mcp__x__*", "z", here, "!more than one tool"},
		{"ExitPlanMode", "z", thisRun, "!for a person"},
	} {
		field := map[string]string{"Bash": "command", "NotebookEdit": "notebook_path", "LS": "path", "WebFetch": "url", "Skill": "skill"}[tt.tool]
		if field == "" {
			field = map[bool]string{true: "file_path", false: "x"}[pathTools[tt.tool].field != ""]
		}
		c, sess := in(top, tt.tool, map[string]any{field: tt.value})
		s := rules(t, "allow: [Bash(pwd)]\nask: ['Bash(git push -f)', 'Read(**/.env*)']\ndeny: ['Bash(rm:*)']")
		got, err := s.Remember(c, sess, tt.scope)
		if sentence, refused := strings.CutPrefix(tt.want, "!"); refused {
			if err == nil || got != "" || !strings.Contains(err.Error(), sentence) {
				t.Errorf("%s %q %s: got %q, %v; want %q", tt.tool, tt.value, tt.scope, got, err, sentence)
			}
			continue
		}
		if err != nil || got != tt.want {
			t.Errorf("%s %q %s: got %q, %v; want %q", tt.tool, tt.value, tt.scope, got, err, tt.want)
			continue
		}
		if err := s.Covers(got, c, sess, tt.scope); err != nil {
			t.Errorf("%s %q %s: %s does not cover it: %v", tt.tool, tt.value, tt.scope, got, err)
		}
		if v := s.Judge(t.Context(), c, sess, granted(tt.scope, got)); v.Effect != gatelatch.Allow {
			t.Errorf("%s %q %s: %s is %s", tt.tool, tt.value, tt.scope, got, v.Effect)
		}
	}
}

func TestRememberTraps(t *testing.T) {
	t.Parallel()
	for name, commands := range map[string][]string{
		"trap 6: parts nobody saw": {"make && make $x", "ls; sh x", "ls | xargs rm", "ls\nsudo ls", "if ls; then ./x; fi", "f() { eval x; }; ls", "a && b && c && d && e"},
		"trap 7: more than words": {
			"echo hi > $(rm x)", "echo x > f", "cat <<E\n$(rm x)\nE", "cat <(rm x)", "cat < f", "echo `rm x`", "echo $x", "ls *", "ls ~", "ls {a,b}",
			"FOO=1 ls", "bash -lc 'ls'", "env ls", "xargs rm", "find . -delete", "git -c a=b log", "sed -i s/a/b/ f", "awk 'BEGIN{system(1)}'",
		},
		"trap 11: a script's bytes may change": {"./x.sh", "/opt/x", "bin/x", "sh x.sh", "python3 x.py", "node x.js"},
		"rule 13: wrappers":                    {"busybox ls", "npx x", "sudo ls", "timeout 1 ls", "docker run x", "ssh h", "kubectl exec p ls", "uvx x", "watch ls", "nohup ls"},
		"rule 15: options that run":            {"sort --compress-prog=sh f", "tar --to-c=x -xf a", "git fetch --upload-pa=x", "go test -exec x"},
	} {
		for _, command := range commands {
			c := bash(command)
			c.Dir = session.Project
			for _, scope := range []gatelatch.Scope{thisRun, here, always} {
				if got, err := rules(t, "").Remember(c, session, scope); err == nil {
					t.Errorf("%s: %q is remembered as %s", name, command, got)
				}
				if err := rules(t, "").Covers("Bash("+command+")", c, session, scope); err == nil {
					t.Errorf("%s: %q may be remembered", name, command)
				}
			}
		}
	}
}

func TestCovers(t *testing.T) {
	t.Parallel()
	top := tree(t)
	project := top + "/project"
	for _, tt := range []struct {
		match, tool, value string
		scope              gatelatch.Scope
		want               string // in the error, "" for none
	}{
		{"Bash(git commit -m:*)", "Bash", "git commit -m x", always, ""},
		{"Bash(git commit:*)", "Bash", "git commit -m x", here, ""},
		{"Bash(git commit *)", "Bash", "git commit -m x", here, ""},
		{"Bash(gh pr view:*)", "Bash", "gh pr view 1", always, ""},
		{"Bash(git push)", "Bash", "git commit -m x", always, "does not cover"},
		{"Bash(git:*)", "Bash", "git commit -m x", thisRun, "may do anything"},
		{"Bash(git push:*)", "Bash", "git push", thisRun, "may do anything"},
		{"Bash(ls:*)", "Bash", "ls /etc", always, ""},
		{"Bash(grep:*)", "Bash", "grep -r x ~", always, "home folder"},
		{"Bash(grep:*)", "Bash", "grep -r x /", always, "home folder"},
		{"Bash(cat:*)", "Bash", "cat ~/.ssh/id_rsa", always, "does not cover"},
		{"Bash(git diff:*)", "Bash", "git diff --no-index a ~/.ssh/id_rsa", always, "does not cover"},
		{"Bash(kubectl get:*)", "Bash", "kubectl get --raw /api/v1/secrets", always, "does not cover"},
		{"Bash(git log:*)", "Bash", "git log -5", always, ""},
		{"Bash(git log:*)", "Bash", "git log --output=x", always, "does not cover"},
		{"Bash(git remote:*)", "Bash", "git remote -v", always, "may do anything"},
		{"Bash(go test:*)", "Bash", "go test ./...", here, ""},
		{"Bash(go test:*)", "Bash", "go test ./...", always, "files of a project"},
		{"Bash(go test:*)", "Bash", "go test -overlay x", here, "does not cover"},
		{"Bash(go build:*)", "Bash", "go build -o bin/x", here, ""},
		{"Bash(go build:*)", "Bash", "go build -o ../x", here, "not remembered"},
		{"Bash(npm run build:*)", "Bash", "npm run build --prefix /elsewhere", here, "does not cover"},
		{"Bash(npm run:*)", "Bash", "npm run build", thisRun, "may do anything"},
		{"Bash(gh pr:*)", "Bash", "gh pr view 1", thisRun, "may do anything"},
		{"Bash(*)", "Bash", "ls", thisRun, "every command"},
		{"Bash", "Bash", "ls", thisRun, "too much"},
		{"*", "Bash", "ls", thisRun, "every tool"},
		{"Bash(ls", "Bash", "ls", thisRun, "does not end in )"},
		{"", "Bash", "ls", thisRun, "no tool name"},

		{"Edit(./src/**)", "Write", "src/a.go", thisRun, ""},
		{"Edit(" + project + "/src/*.go)", "Edit", "src/a.go", thisRun, ""},
		{"Write(./src/**)", "Write", "src/a.go", thisRun, ""},
		{"Write(./src/**)", "Edit", "src/a.go", thisRun, "does not cover"},
		{"Read(./src/**)", "Edit", "src/a.go", thisRun, "does not cover"},
		{"Edit(./src/**)", "Write", "src/a.go", here, "for the session only"},
		{"Edit(./src/a.go)", "Write", "src/a.go", here, ""},
		{"Edit(./src/a.go)", "Write", "src/a.go", always, "in full"},
		{"Edit(~/**)", "Write", "src/a.go", thisRun, "in full"},
		{"Edit(**)", "Write", "src/a.go", thisRun, "in full"},
		{"Edit(/**)", "Write", "src/a.go", thisRun, "reaches out"},
		{"Edit(" + top + "/**)", "Write", "src/a.go", thisRun, "reaches out"},
		{"Edit(" + top + "/p*/src/a.go)", "Write", "src/a.go", thisRun, "reaches out"},
		{"Edit(" + filepath.Dir(top) + "/*/project/src/a.go)", "Write", "src/a.go", thisRun, "reaches out"},
		{"Edit(" + top + "/{project,secret}/src/a.go)", "Write", "src/a.go", thisRun, "reaches out"},
		{"Edit(" + top + "/alias/src/a.go)", "Write", "src/a.go", thisRun, "does not cover"},
		{"Edit(./.git/**)", "Write", "src/a.go", thisRun, "protected"},
		{"Edit", "Write", "src/a.go", thisRun, "too much"},
		{"Write", "Write", "src/a.go", thisRun, "too much"},
		{"Read(./**)", "Read", "src/a.go", here, ""},
		{"Read(" + project + "/**)", "Read", "src/a.go", always, "not always"},
		{"Read(" + top + "/secret/**)", "Read", "../secret/s.txt", thisRun, "not inside the project"},

		{"WebFetch(domain:www.example.com)", "WebFetch", "https://www.example.com", always, ""},
		{"WebFetch(domain:example.com)", "WebFetch", "https://www.example.com", always, ""},
		{"WebFetch(domain:example.com)", "WebFetch", "https://docs.example.com", always, "the host is docs.example.com"},
		{"WebFetch(domain:co.uk)", "WebFetch", "https://example.co.uk", always, "the host is example.co.uk"},
		{"WebFetch", "WebFetch", "https://example.com", always, "too much"},
		{"mcp__x__*", "mcp__x__y", "z", thisRun, "more than one tool"},
		{"mcp__x__z", "mcp__x__y", "z", thisRun, "does not cover"},
		{"Skill", "Skill", "pdf", thisRun, "too much"},
	} {
		field := map[string]string{"Bash": "command", "WebFetch": "url", "Skill": "skill", "mcp__x__y": "x"}[tt.tool]
		if field == "" {
			field = "file_path"
		}
		c, sess := in(top, tt.tool, map[string]any{field: tt.value})
		s := rules(t, "")
		err := s.Covers(tt.match, c, sess, tt.scope)
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s for %s %q, %s: got %v, want %q", tt.match, tt.tool, tt.value, tt.scope, err, tt.want)
		}
		if v := s.Judge(t.Context(), c, sess, granted(tt.scope, tt.match)); v.Effect == gatelatch.Allow && err != nil && !strings.HasPrefix(tt.match, "WebFetch") {
			t.Errorf("%s for %s %q, %s: refused, and allowed all the same", tt.match, tt.tool, tt.value, tt.scope)
		}
	}
}

func TestRememberNeedsAProjectForItsScope(t *testing.T) {
	t.Parallel()
	for _, project := range []string{"", "/", "p"} {
		sess := &gatelatch.Session{Project: project}
		if got, err := rules(t, "").Remember(bash("ls"), sess, here); err == nil {
			t.Errorf("%q: got %s", project, got)
		}
		if got, err := rules(t, "").Remember(call("Write", `{"file_path":"/p/a"}`), sess, thisRun); err == nil {
			t.Errorf("%q: got %s", project, got)
		}
	}
	if _, err := rules(t, "").Remember(bash("ls"), nil, thisRun); err != nil {
		t.Error(err)
	}
}

func TestQuestionsAndPlansAreNeverRemembered(t *testing.T) {
	t.Parallel()
	for _, kind := range []gatelatch.Kind{gatelatch.Question, gatelatch.Plan, ""} {
		c := call("WebSearch", `{}`)
		c.Kind = kind
		if got, err := rules(t, "").Remember(c, session, always); err == nil {
			t.Errorf("%q: got %s", kind, got)
		}
		if rules(t, "").Covers("WebSearch", c, session, always) == nil {
			t.Errorf("%q may be remembered", kind)
		}
	}
	if got, err := rules(t, "").Remember(call("X", `{"a":1,"A":2}`), session, always); err == nil {
		t.Errorf("an input with two readings: got %s", got)
	}
	if got, err := brokenSet().Remember(bash("ls"), session, always); err == nil {
		t.Errorf("a broken policy: got %s", got)
	}
}

func TestFileRemembers(t *testing.T) {
	t.Parallel()
	f := Open(filepath.Join(t.TempDir(), "policy.yaml"))
	c := bash("git push")
	match, err := f.Remember(c, session, always)
	if err != nil || f.Covers(match, c, session, always) != nil || f.Judge(t.Context(), c, session, granted(always, match)).Grant != "g0" {
		t.Errorf("got %q, %v", match, err)
	}
	if f.Covers("Bash(git:*)", c, session, always) == nil {
		t.Error("a program alone may be remembered")
	}
}
