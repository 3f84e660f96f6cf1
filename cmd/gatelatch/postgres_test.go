package main

import (
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/client"
	"github.com/gatelatch/gatelatch/internal/statedir"
	"github.com/gatelatch/gatelatch/store/postgres/pgtest"
)

// Two gateways share a real database: what one is asked, a person at the other
// decides, and stopping everything at one stops both.
func TestTwoGatewaysOneDatabase(t *testing.T) {
	server, err := pgtest.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Stop(); err != nil {
			t.Error(err)
		}
	})
	store := asURL(server.Database(t, "shared"))
	one, two := sharingGateway(t, store), sharingGateway(t, store)
	b := ask(t, one, "m1", "git push")
	if out, err := command(t, two, "ls"); err != nil || !strings.Contains(out, "git push") {
		t.Fatalf("ls at the other gateway: %q, %v", out, err)
	}
	if out, err := command(t, two, "allow", b.Calls[0].ID); err != nil {
		t.Fatalf("%q, %v", out, err)
	}
	c, err := client.ForAgents(one.state)
	if err != nil {
		t.Fatal(err)
	}
	if b, err = c.Await(t.Context(), b.ID, gatelatch.Hold{Holder: "h1", Consume: true}); err != nil || b.Calls[0].State != gatelatch.Allowed {
		t.Errorf("the waiter got %+v, %v", b, err)
	}
	rules := rulesFile(t, "allow: ['Bash(cargo build:*)']\n")
	if out, err := command(t, two, "policy", "apply", rules, "--yes", "--note", "we build often"); err != nil || !strings.Contains(out, "Revision 2 is in force") {
		t.Fatalf("%q, %v", out, err)
	}
	for name, opt := range map[string]gatewayOptions{"one": one, "two": two} {
		if b := ask(t, opt, "build at "+name, "cargo build"); b.Calls[0].State != gatelatch.Allowed {
			t.Errorf("by the rules of both, %s: %s", name, b.Calls[0].State)
		}
		if out := mustRun(t, opt, "policy", "show"); !strings.Contains(out, "cargo build") {
			t.Errorf("the rules at %s: %s", name, out)
		}
	}
	if _, err := command(t, two, "pause"); err != nil {
		t.Fatal(err)
	}
	if b := ask(t, one, "m2", "pwd"); b.Calls[0].State != gatelatch.Denied {
		t.Errorf("while the other is paused: %s", b.Calls[0].State)
	}
}

// asURL turns "host=/dir port=1 user=u dbname=d" into a URL.
func asURL(dsn string) string {
	f := map[string]string{}
	for _, m := range regexp.MustCompile(`(\w+)=(\S+)`).FindAllStringSubmatch(dsn, -1) {
		f[m[1]] = m[2]
	}
	u := url.URL{Scheme: "postgres", User: url.User(f["user"]), Path: "/" + f["dbname"], RawQuery: url.Values{"host": {f["host"]}, "port": {f["port"]}}.Encode()}
	return u.String()
}

func sharingGateway(t *testing.T, store string) gatewayOptions {
	t.Helper()
	tmp, err := os.MkdirTemp("", "gl-") //nolint:usetesting // a socket's name must be short
	if err != nil {
		t.Fatal(err)
	}
	opt := gatewayOptions{state: statedir.Dir(filepath.Join(tmp, "state")), config: tmp, listen: "127.0.0.1:0", store: store, log: slog.New(slog.DiscardHandler)}
	g, err := startGateway(opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := g.close(); err != nil {
			t.Error(err)
		}
		_ = os.RemoveAll(tmp)
	})
	return opt
}
