package policy

import (
	"slices"
	"strings"
	"testing"

	"github.com/gatelatch/gatelatch"
)

var scopes = []gatelatch.Scope{thisRun, here, always}

func matches(offers []gatelatch.Offer) string {
	var out []string
	for _, o := range offers {
		out = append(out, o.Match)
	}
	return strings.Join(out, " | ")
}

func TestOffers(t *testing.T) {
	t.Parallel()
	top := tree(t)
	project := top + "/project"
	for _, tt := range []struct {
		tool, value string
		scope       gatelatch.Scope
		want        string // the matchers
	}{
		{"Bash", "git log -5 --oneline", always, "Bash(git log -5 --oneline) | Bash(git log:*)"},
		{"Bash", "git status", always, "Bash(git status) | Bash(git status:*)"},
		{"Bash", "git --no-pager diff HEAD", always, "Bash(git --no-pager diff HEAD) | Bash(git --no-pager diff:*)"},
		{"Bash", "git commit -m 'a fix'", here, "Bash(git commit -m 'a fix') | Bash(git commit:*)"},
		{"Bash", "gh pr view 12", always, "Bash(gh pr view 12) | Bash(gh pr view:*)"},
		{"Bash", "docker compose up -d", always, ""},
		{"Bash", "npm run lint -- --fix", here, "Bash(npm run lint -- --fix) | Bash(npm run lint:*)"},
		{"Bash", "npm run 'two words'", here, "Bash(npm run 'two words') | Bash(npm run 'two words':*)"},
		{"Bash", "npm run lint", always, ""},
		{"Bash", "go test ./...", thisRun, "Bash(go test ./...) | Bash(go test:*)"},
		{"Bash", "cat ../secret/s.txt", thisRun, "Bash(cat ../secret/s.txt) | Bash(cat:*)"},

		{"Bash", "git push origin main", here, "Bash(git push origin main)"},
		{"Bash", "git branch topic", here, "Bash(git branch topic)"},
		{"Bash", "git branch -a", here, "Bash(git branch -a) | Bash(git branch:*)"},
		{"Bash", "git remote -v", here, "Bash(git remote -v)"},
		{"Bash", "git reset --hard", here, "Bash(git reset --hard)"},
		{"Bash", "npm install left-pad", here, "Bash(npm install left-pad)"},
		{"Bash", "gh pr create -t x", here, "Bash(gh pr create -t x)"},
		{"Bash", "mkdir -p out", here, "Bash(mkdir -p out)"},
		{"Bash", "make test", here, "Bash(make test)"},
		{"Bash", "frobnicate now", here, "Bash(frobnicate now)"},
		{"Bash", "git log --output=x", here, "Bash(git log --output=x)"},
		{"Bash", "git log && git diff", here, "Bash(git log) + Bash(git diff) | Bash(git log:*) + Bash(git diff:*)"},
		{"Bash", "git add src; git push origin main", here, "Bash(git add src) + Bash(git push origin main) | Bash(git add:*) + Bash(git push origin main)"},
		{"Bash", "git push a; git push b", here, "Bash(git push a) + Bash(git push b)"},
		{"Bash", "git log; git log", here, "Bash(git log) | Bash(git log:*)"},
		{"Bash", "git log && rm x", here, ""},
		{"Bash", "git log && sh x", here, ""},
		{"Bash", "git log $x", here, ""},
		{"Bash", "python3 -c 1", here, ""},
		{"Bash", "sudo ls", here, ""},
		{"Bash", "sh -c ls", here, ""},
		{"Bash", "rm x", here, ""},

		{"Read", "src/a.go", here, "Read(" + project + "/src/a.go) | Read(" + project + "/src/**)"},
		{"Read", "src/a.go", always, "Read(" + project + "/src/a.go)"},
		{"Read", "../secret/s.txt", thisRun, "Read(" + top + "/secret/s.txt)"},
		{"Edit", "src/a.go", thisRun, "Edit(" + project + "/**) | Edit(" + project + "/src/a.go) | Edit(" + project + "/src/**)"},
		{"Edit", "src/a.go", here, "Edit(" + project + "/src/a.go)"},
		{"WebFetch", "https://docs.example.com/x", always, "WebFetch(domain:docs.example.com)"},
		{"mcp__x__y", "z", here, "mcp__x__y"},
		{"mcp__x__y", "z", always, ""},
		{"Bash", "git log", once, ""},
	} {
		field := map[string]string{"Bash": "command", "WebFetch": "url", "mcp__x__y": "x"}[tt.tool]
		if field == "" {
			field = "file_path"
		}
		c, sess := in(top, tt.tool, map[string]any{field: tt.value})
		s := rules(t, "deny: ['Bash(rm:*)']")
		offers := s.Offers(c, sess, tt.scope)
		if got := matches(offers); got != tt.want {
			t.Errorf("%s %q %s:\n got %s\nwant %s", tt.tool, tt.value, tt.scope, got, tt.want)
		}
		checkOffers(t, s, c, sess, tt.scope)
	}
}

// checkOffers holds every offer to what it promises.
func checkOffers(t *testing.T, s *Set, c *gatelatch.Call, sess *gatelatch.Session, scope gatelatch.Scope) {
	t.Helper()
	offers := s.Offers(c, sess, scope)
	if first, err := s.Remember(c, sess, scope); err == nil && (len(offers) == 0 || offers[0].Match != first) {
		t.Errorf("%s %s: %s is remembered, offered is %s", c.Input, scope, first, matches(offers))
	}
	for _, o := range offers {
		if err := s.Covers(o.Match, c, sess, scope); err != nil {
			t.Errorf("%s %s: %s is offered, but %v", c.Input, scope, o.Match, err)
		}
		if v := s.Judge(t.Context(), c, sess, granted(scope, o.Match)); v.Effect != gatelatch.Allow {
			t.Errorf("%s %s: %s is offered, and does not allow it", c.Input, scope, o.Match)
		}
		for _, also := range o.Also {
			n := bash(also)
			n.Dir = c.Dir
			if v := s.Judge(t.Context(), n, sess, granted(scope, o.Match)); v.Effect != gatelatch.Allow || v.Grant == "" {
				t.Errorf("%s does not allow %q, as it says", o.Match, also)
			}
			if v := s.Judge(t.Context(), n, sess, nil); v.Effect == gatelatch.Allow {
				t.Errorf("%s: %q is allowed anyway", o.Match, also)
			}
		}
	}
}

func TestOffersNameTheirNeighbours(t *testing.T) {
	t.Parallel()
	top := tree(t)
	for command, want := range map[string][]string{
		"git commit -m x":     {"git commit --amend --no-verify"},
		"git add src":         {"git add --force x"},
		"git log -3":          nil,
		"git branch -a":       nil, // its grant does not reach branch -D
		"go build ./...":      {"go build -o x"},
		"npm run lint":        {"npm run lint -- --require ./x.js"},
		"cat ../secret/s.txt": {"cat /etc/passwd"},
	} {
		c, sess := in(top, "Bash", map[string]any{"command": command})
		offers := rules(t, "").Offers(c, sess, here)
		if len(offers) != 2 || offers[0].Also != nil || len(offers[1].Also) > maxAlso || (offers[1].Also == nil) != (want == nil) {
			t.Errorf("%s: got %q", command, offers)
			continue
		}
		for _, w := range want {
			if !slices.Contains(offers[1].Also, w) {
				t.Errorf("%s: got %q", command, offers[1].Also)
			}
		}
	}
}

// Whatever stands behind the verbs, an offer covers its call and no interpreter,
// wrapper or destructive command is left open.
func TestEveryOfferIsCovered(t *testing.T) {
	t.Parallel()
	top := tree(t)
	s := rules(t, "")
	programs := []string{
		"git log", "git diff", "git commit", "git push", "git branch", "git tag", "git stash list", "git clean", "git grep", "npm run", "npm test", "npm install",
		"go test", "go build", "go list", "cargo test", "docker ps", "docker run", "kubectl get", "kubectl delete", "gh pr view", "gh api", "aws s3 ls", "aws s3 rm",
		"cat", "ls", "rg x", "grep x", "sort", "tar", "rm", "mv", "curl", "find", "sed", "xargs", "env", "bash", "python3", "sudo", "date", "jq .", "ps", "sqlite3",
	}
	tails := []string{"", "a", "-v", "-o f", "-f", "-D x", "--exec x", "--output=f", "-- x", "-C ..", "../out", "/etc/passwd", "--config x", "-delete", "secret x", "-X POST"}
	for _, program := range programs {
		for _, tail := range tails {
			for _, scope := range scopes {
				c, sess := in(top, "Bash", map[string]any{"command": strings.TrimSpace(program + " " + tail)})
				checkOffers(t, s, c, sess, scope)
			}
		}
	}
	for _, program := range []string{"git push", "git clean", "npm install", "docker run", "kubectl delete", "aws s3 rm", "rm", "mv", "curl", "find", "sed", "xargs", "env", "bash", "python3", "sudo", "sqlite3"} {
		c, sess := in(top, "Bash", map[string]any{"command": program + " x"})
		for _, scope := range scopes {
			if s.Covers("Bash("+program+":*)", c, sess, scope) == nil {
				t.Errorf("%s may be left open (%s)", program, scope)
			}
		}
	}
}
