package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/api"
	"github.com/gatelatch/gatelatch/internal/canary"
	"github.com/gatelatch/gatelatch/internal/strictjson"
)

// names puts secrets into the names of tools, each in one that has room for it.
func (m *mine) names(cs []canary.Canary) {
	m.Helper()
	most := 2
	for _, c := range cs {
		if strings.Trim(c.Text, nameRunes) != "" || len(c.Text) > 200 || most == 0 {
			continue
		}
		most--
		ask := func() *gatelatch.Batch {
			return m.ask(gatelatch.Permission, namePrefix+c.Text, "", fields{"n": m.n}, 0)
		}
		m.must(m.decide(ask(), api.Decision{State: "allowed"}))
		m.note("a tool that can't be remembered", m.decide(ask(), api.Decision{State: "allowed", Remember: &api.Terms{Scope: "always", Match: namePrefix + c.Text}}))
		b := m.ask(gatelatch.Permission, namePrefix+c.Text, "", fields{"command": c.Text}, 0)
		if !m.parked { // a session has one
			m.must(m.agent.Park(m.Context(), b.ID, true))
			m.parked = true
		}
	}
}

const (
	namePrefix = "mcp__x__"
	nameRunes  = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-." // what tools are named with
)

var toolNames = regexp.MustCompile(namePrefix + `[\w.-]+`)

// unnamed leaves the names of tools out of the record itself: digests bind them,
// so it keeps them whole.
func unnamed(table, row string) string {
	if strings.HasSuffix(table, "batch") || strings.HasSuffix(table, "call") {
		return toolNames.ReplaceAllString(row, "")
	}
	return row
}

// doctor notes what is said about the gateway and its files.
func (m *mine) doctor() {
	sys := thisSystem()
	sys.run = func(context.Context, string, ...string) (string, error) { return "2.1.325 (Claude Code)", nil }
	for _, args := range [][]string{nil, {"--json"}} {
		var out bytes.Buffer
		cmd := doctorCmd(sys)
		cmd.SilenceErrors, cmd.SilenceUsage = true, true
		cmd.SetOut(&out)
		cmd.SetArgs(append(args, "--state", string(m.opt.state), "--config", m.opt.config))
		err := cmd.ExecuteContext(m.Context()) // what it finds wrong with this machine is not asked here
		if !strings.Contains(out.String(), "gateway") {
			m.Errorf("the doctor: %v, %s", err, out.String())
		}
		m.note("gatelatch doctor "+strings.Join(args, " "), out.String())
	}
}

// What is said about files with secrets in them quotes none.
func TestSecretsInFiles(t *testing.T) {
	p := newPatient(t)
	dir := filepath.Join(p.home, ".config", "gatelatch")
	for _, c := range everyNth(canary.All(), 8) {
		if strings.ContainsAny(c.Text, "\n") {
			continue
		}
		quoted, err := strictjson.Marshal(c.Text)
		if err != nil {
			t.Fatal(err)
		}
		var said strings.Builder
		for _, settings := range []string{
			fmt.Sprintf(`{"hooks":{"PreToolUse":[{"matcher":"*","hooks":[{"type":"command","command":%s}]}]},"env":{"X":%s}}`, quoted, quoted),
			fmt.Sprintf(`{"hooks":{"PreToolUse":%s}}`, quoted),
			`{"env":` + c.Text,
		} {
			writeTestFile(t, p.settings(), settings, 0o600)
			p.claude = c.Text
			r := p.look(t)
			fmt.Fprintf(&said, "%+v\n", r)
		}
		for _, config := range []string{
			"hooks: %s\n", "hooks: [{path: %s}]\n", "listen: %s\n", "store: %s\n", "public_url: %s\n", "%s: 1\n", "tools: {profile: %s}\n", "quota: {burst: %s}\n",
			"notify: {channels: {a: {type: %s}}}\n", "notify: {channels: {a: {type: webhook, url: %s}}}\n", "notify: {channels: {a: {type: email, server: %s}}}\n", "checkpoints: %s\n", "agent_socket: %s\n", "metrics_listen: %s\n",
		} {
			writeTestFile(t, filepath.Join(dir, "config.yaml"), fmt.Sprintf(config, quoted), 0o600)
			for _, args := range [][]string{nil, {"--json"}} {
				out, err := configCommand(append([]string{"config", "check", "--config", dir}, args...)...)
				fmt.Fprintln(&said, config, out, err)
			}
		}
		if err := os.Remove(filepath.Join(dir, "config.yaml")); err != nil {
			t.Fatal(err)
		}
		if at := strings.Index(said.String(), c.Needle); at >= 0 {
			t.Errorf("%s is in …%q", c.Kind, said.String()[max(0, at-200):at+len(c.Needle)])
		}
	}
}
