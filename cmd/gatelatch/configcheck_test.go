package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"

	"github.com/gatelatch/gatelatch/internal/shape"
	"github.com/gatelatch/gatelatch/policy/review"
)

// configCommand runs a command that needs no gateway.
func configCommand(args ...string) (string, error) {
	var out bytes.Buffer
	root := newRootCmd()
	root.SetOut(&out)
	root.SetErr(&out)
	root.SetArgs(args)
	err := root.Execute()
	return out.String(), err
}

func TestConfigCheck(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		line int
		want string
		hint string
	}{
		"a misspelt key":     {"listen: 127.0.0.1:1\n\nlissten: x\n", 3, "lissten is no key", "did you mean listen?"},
		"a misspelt section": {"tools:\n  profile: full\n  dney: [x]\n", 3, "tools.dney is no key", "did you mean deny?"},
		"a wrong kind":       {"hooks: /bin/true\n", 1, "hooks has to be a list", "dash"},
		"a wrong word":       {"hooks:\n- path: /bin/true\n  on: befor\n", 3, "is none of before, after", "did you mean before?"},
		"no time":            {"hooks: [{path: /bin/true, timeout: 5}]", 1, "length of time", "30s"},
		"no YAML":            {"listen: x\n\t- y\n", 2, "tab character", ""},
		"twice":              {"listen: 127.0.0.1:1\nlisten: 127.0.0.1:2\n", 2, "second time", ""},
		"a relative hook":    {"listen: 127.0.0.1:1\nhooks:\n- path: /bin/true\n- path: check\n", 4, "needs an absolute path", ""},
		"no such hook":       {"hooks:\n- path: /nonexistent/check\n", 2, "no such file", ""},
		"tools":              {"tools:\n  profiles:\n    mine: {allow: }\n", 3, "a value is missing", ""},
		"a public address":   {"listen: 127.0.0.1:1\npublic_url: http://x\n", 2, "https://HOST", "TLS"},
		"a store":            {"store: mysql://x\n", 1, "the store is none", "postgres://"},
		"checkpoints":        {"\ncheckpoints: here\n", 2, "absolute path", ""},
		"no checkpoints":     {"checkpoints_required: true\n", 1, "have no file", "--checkpoints"},
		"a socket alone":     {"\nagent_socket: /run/gatelatch/agent.sock\n", 2, "go together", "name the users"},
		"too large an input": {"\nlimits:\n  input_mib: 9\n", 3, "limits.input_mib is 9", "1 to 8 MiB"},
		"no input at all":    {"limits: {input_mib: 0}\n", 1, "limits.input_mib is 0", "1 to 8 MiB"},
		"an address":         {"\nlisten: nowhere\n", 2, "missing port", "such as 127.0.0.1:7474"},
	} {
		dir := t.TempDir()
		writeFile(t, filepath.Join(dir, "config.yaml"), c.text)
		out, err := configCommand("config", "check", "--config", dir, "--json")
		var report struct{ Findings []review.Finding }
		if e := json.Unmarshal([]byte(out), &report); e != nil || err == nil || len(report.Findings) != 1 {
			t.Errorf("%s: %v, %v\n%s", name, err, e, out)
			continue
		}
		f := report.Findings[0]
		if f.Line != c.line || !strings.Contains(f.Message, c.want) || !strings.Contains(f.Hint, c.hint) || f.Severity != review.Error || f.File != filepath.Join(dir, "config.yaml") {
			t.Errorf("%s: %+v", name, f)
		}
		if out, err = configCommand("config", "check", "--config", dir); err == nil || !strings.Contains(out, "config.yaml:") || !strings.Contains(out, ": error: ") {
			t.Errorf("%s: %v, %s", name, err, out)
		}
	}
	dir := t.TempDir()
	if out, err := configCommand("config", "check", "--config", dir); err != nil || !strings.Contains(out, "the defaults hold") {
		t.Errorf("without a file: %v, %s", err, out)
	}
	for _, text := range []string{"", "# nothing\n", "listen: 127.0.0.1:0\nhooks: [{path: /bin/true, timeout: 5s}]\n"} {
		writeFile(t, filepath.Join(dir, "config.yaml"), text)
		if out, err := configCommand("config", "check", "--config", dir); err != nil || out != "Nothing to report.\n" {
			t.Errorf("%q: %v, %s", text, err, out)
		}
		if _, err := loadConfig(dir); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestConfigErrorsOfAStartHaveAHint(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "config.yaml"), "\nlissten: x\n")
	if _, err := loadConfig(dir); err == nil || !strings.Contains(err.Error(), "line 2: lissten is no key") || hintOf(err) != "did you mean listen?" {
		t.Errorf("%v, hint %q", err, hintOf(err))
	}
}

var configBlock = regexp.MustCompile("(?s)```yaml\n(?:# config.yaml\n)?((?:hooks|tools|listen|notify|checkpoints|public_url):.*?)```")

// The schema takes what the loader takes: what the documentation shows, and
// refuses what it refuses.
func TestConfigSchemaAndLoaderAgree(t *testing.T) {
	out, err := configCommand("config", "schema")
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(out))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("config.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("config.json")
	if err != nil {
		t.Fatal(err)
	}
	fits := func(text string) (loader []shape.Misfit, schema error) {
		var v any
		if err := yaml.Unmarshal([]byte(text), &v); err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		return misfits([]byte(text)), s.Validate(v)
	}
	files, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	shown := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range configBlock.FindAllStringSubmatch(string(text), -1) {
			shown++
			if loader, schema := fits(m[1]); schema != nil || len(loader) > 0 {
				t.Errorf("%s: %v, %v\n%s", file, schema, loader, m[1])
			}
		}
	}
	if shown < 4 {
		t.Errorf("only %d examples are found in the docs", shown)
	}
	for _, bad := range []string{"lissten: x", "hooks: [{path: /x, on: never}]", "hooks: {path: /x}", "hooks: [{path: /x, timeout: soon}]",
		"tools: {allow: x}", "tools: {agents: {a: {alow: []}}}", "tools: {apply_patch: {enabled: perhaps}}", "checkpoints_required: 1"} {
		if loader, schema := fits(bad); schema == nil || len(loader) == 0 {
			t.Errorf("%q: %v, %v", bad, schema, loader)
		}
	}
	paths := shape.Paths(reflect.TypeFor[config]())
	for path := range configSays {
		if !slices.Contains(paths, path) {
			t.Errorf("%s is described and not there", path)
		}
	}
}
