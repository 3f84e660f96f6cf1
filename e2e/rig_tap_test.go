package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"

	"github.com/gatelatch/gatelatch/api/apitest"
	"github.com/gatelatch/gatelatch/internal/tap"
)

// tapped is the gateway as it is, but for noting what it is asked: the command
// line and the hook under test are the product's own.
var tapped = sync.OnceValues(func() (string, error) {
	b, err := product()
	if err != nil {
		return "", err
	}
	out, err := exec.Command(b.gatelatch, "--version").Output()
	if err != nil {
		return "", err
	}
	version := strings.TrimSpace(strings.TrimPrefix(string(out), "gatelatch version "))
	bin := filepath.Join(scratch, "tapped", "gatelatch")
	cmd := exec.Command("go", "build", "-tags", "tap", "-buildvcs=false", "-trimpath", "-ldflags", "-s -w -X main.version="+version, "-o", bin, "./cmd/gatelatch")
	cmd.Dir, cmd.Env = "..", append(os.Environ(), "CGO_ENABLED=0") // as the product, to share what is compiled
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("can't build the tapped gateway: %w\n%s", err, out)
	}
	return bin, nil
})

// asDescribed holds every request that the gateway got, and every answer,
// against the description of the API.
func (g *gateway) asDescribed() {
	checker, wrong := apitest.For(g.t)
	files, err := filepath.Glob(filepath.Join(g.tap, "*.json"))
	if err != nil {
		g.t.Error(err)
	}
	for _, name := range files {
		raw, err := os.ReadFile(name)
		var e tap.Exchange
		if err == nil {
			err = json.Unmarshal(raw, &e)
		}
		if err != nil {
			g.t.Error(err)
			continue
		}
		target, err := url.Parse(e.Target)
		if err != nil {
			g.t.Error(err)
			continue
		}
		asked := &http.Request{Method: e.Method, URL: target, Host: target.Host}
		if err := checker.Check(apitest.Exchange{Request: asked, Body: e.Body, Status: e.Status, Type: e.Type, Answer: e.Answer}); err != nil {
			wrong(err)
		}
	}
}
