package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// Every command line in examples/deploy is one that this gatelatch takes.
func TestDeployedCommandLines(t *testing.T) {
	t.Parallel()
	read := func(name string) string {
		t.Helper()
		text, err := os.ReadFile(filepath.Join("..", "..", "examples", "deploy", name))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	lines := map[string][][]string{}
	for _, name := range []string{"gatelatch.service", "gatelatch.user.service"} {
		for _, m := range regexp.MustCompile(`(?m)^ExecStart=(.*)$`).FindAllStringSubmatch(read(name), -1) {
			lines[name] = append(lines[name], strings.Fields(m[1])[1:])
		}
	}
	for _, m := range regexp.MustCompile(`(?m)CMD (\[.*\])$`).FindAllStringSubmatch(read("Containerfile"), -1) {
		var words []string
		if err := json.Unmarshal([]byte(m[1]), &words); err != nil {
			t.Fatal(err)
		}
		lines["Containerfile"] = append(lines["Containerfile"], trimProgram(words))
	}
	var compose struct {
		Services map[string]struct {
			Command     []string `yaml:"command"`
			Healthcheck struct {
				Test []string `yaml:"test"`
			} `yaml:"healthcheck"`
		} `yaml:"services"`
	}
	if err := yaml.Unmarshal([]byte(read("compose.yaml")), &compose); err != nil {
		t.Fatal(err)
	}
	for name, s := range compose.Services {
		if strings.HasPrefix(name, "gateway") {
			lines["compose.yaml"] = append(lines["compose.yaml"], s.Command, trimProgram(s.Healthcheck.Test[1:]))
		}
	}
	for name, want := range map[string]int{"gatelatch.service": 1, "gatelatch.user.service": 1, "Containerfile": 2, "compose.yaml": 4} {
		if len(lines[name]) != want {
			t.Errorf("%s: %d command lines are found, not %d", name, len(lines[name]), want)
		}
		for _, words := range lines[name] {
			cmd, rest, err := newRootCmd().Find(words)
			if err == nil {
				err = cmd.ParseFlags(rest)
			}
			if err != nil || cmd.Name() != words[0] {
				t.Errorf("%s: %q: %v", name, words, err)
			}
		}
	}
}

func trimProgram(words []string) []string {
	if strings.HasSuffix(words[0], "/gatelatch") {
		return words[1:]
	}
	return words
}
