// Package arch holds the picture of which package may import which.
package arch

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const mod = "github.com/gatelatch/gatelatch"

// layer is the height of a package; it may import only lower ones.
var layer = map[string]int{
	"shell": 0, "shell/spec/gen": 0, "web": 0, "redact": 0, "internal/canary": 0, "api/openapi": 0, "api/apitest": 1,
	"internal/strictjson": 0, "internal/id": 0, "internal/twin": -1, "internal/tap": 0, "internal/writer": 0, "internal/redo": 0, "internal/statedir": 0, "internal/filelock": 0, "internal/clock": 0, "internal/aside": 0, "internal/qr": 0, "internal/metrics": 0, "internal/fault": 0, "internal/ballast": 0,
	"internal/passkey": 0, "internal/passkey/passkeytest": 1,
	"internal/hostconfig": 0, "internal/shape": 0, "internal/userservice": 0, "internal/scriptedmodel": 0,
	"store/postgres/pgtest": 0, "model": 0, "model/sim": 0,

	"": 1,

	"audit": 2, "internal/storage/gen": 2, "approval": 2, "policy": 2, "hook": 2, "toolset": 2, "api": 2, "push": 2, "adapter/claudecode": 2,

	"render": 3, "client": 3, "auth": 3, "api/gen": 3, "internal/storage": 3, "internal/backup": 3, "model/modeltest": 3,
	"policy/history": 3, "policy/claude": 3, "adapter/control": 3,

	"adapter/ask": 3, "adapter/inbox": 3, "adapter/ws": 3,
	"adapter/mcp": 4, "adapter/bridge": 4, "adapter/sema": 4, "adapter/openclaw": 4, "adapter/adaptertest": 6,

	"store/memory": 4, "store/sqlite": 4, "store/postgres": 4, "store/storetest": 4, "adapter/hookcmd": 4, "adapter/hookcmd/first": 5, "adapter/runner": 4, "internal/hostprobe": 4,
	"policy/review": 4, "notify": 4, "watch": 4,

	"server": 5,

	"cmd/gatelatch": 6, "cmd/gatelatch-hook": 5, "examples/agent-go": 5,

	"e2e/output": 0, "e2e": 6, "e2e/crash": 6, "e2e/linear": 6, "bench": 6, "bench/hello": 0,
}

// outside lists the modules that a package may use beyond the standard library.
var outside = map[string][]string{
	"shell":               {"mvdan.cc/sh/v3"},
	"shell/spec/gen":      {"go.yaml.in/yaml/v3"},
	"internal/strictjson": {"github.com/go-json-experiment/json"},
	"internal/shape":      {"go.yaml.in/yaml/v3"},
	"internal/qr":         {"rsc.io/qr"},
	"policy":              {"go.yaml.in/yaml/v3", "github.com/bmatcuk/doublestar/v4", "golang.org/x/net"},
	"policy/review":       {"go.yaml.in/yaml/v3"},
	"policy/claude":       {"go.yaml.in/yaml/v3"},
	"api/apitest":         {"github.com/santhosh-tekuri/jsonschema/v6"},
	"render":              {"github.com/aymanbagabas/go-udiff"},
	"store/sqlite":        {"modernc.org/sqlite"},
	"store/postgres":      {"github.com/jackc/pgx/v5"},
	"adapter/mcp":         {"github.com/modelcontextprotocol/go-sdk"},
	"adapter/ws":          {"github.com/coder/websocket"},
	"watch":               {"golang.org/x/term"},
	"cmd/gatelatch":       {"github.com/spf13/cobra", "go.yaml.in/yaml/v3"},
	"model/modeltest":     {"pgregory.net/rapid"},
	"bench":               {"github.com/jackc/pgx/v5", "mvdan.cc/sh/v3", "github.com/chromedp/chromedp", "github.com/chromedp/cdproto"},
}

func TestImports(t *testing.T) {
	for pkg, imports := range list(t, "{{.ImportPath}} {{join .Imports \" \"}}", mod+"/...") {
		name := short(pkg)
		height, ok := layer[name]
		if !ok {
			if name != "internal/arch" {
				t.Errorf("%s has no layer: say in internal/arch where it stands", pkg)
			}
			continue
		}
		for _, imp := range imports {
			if msg := refuse(name, height, imp); msg != "" {
				t.Errorf("%s imports %s, %s", pkg, imp, msg)
			}
		}
	}
}

func refuse(name string, height int, imp string) string {
	if strings.HasPrefix(imp, mod) {
		if l, known := layer[short(imp)]; !known || l >= height {
			return "which is not below it"
		}
		return ""
	}
	if host, _, _ := strings.Cut(imp, "/"); !strings.Contains(host, ".") {
		return "" // standard library
	}
	if !slices.ContainsFunc(outside[name], func(m string) bool { return imp == m || strings.HasPrefix(imp, m+"/") }) {
		return "which the picture does not show: a module lives in one named package"
	}
	return ""
}

// The hook starts for every tool call, so it links next to nothing.
func TestHookLinksOnlyWhatItNeeds(t *testing.T) {
	allowed := []string{mod, "github.com/go-json-experiment/json/", "vendor/", "golang.org/x/sys/"}
	for pkg := range list(t, "{{.ImportPath}}", "-deps", mod+"/cmd/gatelatch-hook") {
		host, _, dotted := strings.Cut(pkg, "/")
		if !dotted || !strings.Contains(host, ".") {
			continue
		}
		if !slices.ContainsFunc(allowed, func(p string) bool { return strings.HasPrefix(pkg, p) }) {
			t.Errorf("gatelatch-hook links %s", pkg)
		}
	}
}

// The root package costs a user nothing beyond the standard library.
func TestRootNeedsOnlyTheStandardLibrary(t *testing.T) {
	for pkg := range list(t, "{{.ImportPath}}", "-deps", mod) {
		if host, _, _ := strings.Cut(pkg, "/"); strings.Contains(host, ".") && !strings.HasPrefix(pkg, mod) {
			t.Errorf("the root package needs %s", pkg)
		}
	}
}

func list(t *testing.T, format string, args ...string) map[string][]string {
	t.Helper()
	out, err := exec.Command("go", append([]string{"list", "-f", format}, args...)...).Output()
	if err != nil {
		t.Fatal(err)
	}
	pkgs := map[string][]string{}
	for line := range strings.Lines(string(out)) {
		f := strings.Fields(line)
		pkgs[f[0]] = f[1:]
	}
	return pkgs
}

func short(pkg string) string { return strings.TrimPrefix(strings.TrimPrefix(pkg, mod), "/") }
