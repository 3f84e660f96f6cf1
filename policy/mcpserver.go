package policy

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/gatelatch/gatelatch"
)

const (
	mcpPrefix = "mcp__"
	// managedServers are those that an administrator gives everybody.
	managedServers = "/etc/claude-code/managed-mcp.json"
	maxServers     = 32 << 20 // bytes of a file; Claude Code keeps more than settings in its own
	maxLaunch      = 200
)

// definition is one server in one file.
type definition struct {
	name, source string
	raw          json.RawMessage
}

// Server implements gatelatch.Binder for Claude Code's settings. Hooks say only
// the tool's name, so all definitions count that it may come from; the first is
// the one that Claude Code prefers.
func (b *Binder) Server(tool string, s *gatelatch.Session) *gatelatch.Server {
	if !strings.HasPrefix(tool, mcpPrefix) || !b.here(s) {
		return nil
	}
	var fields [][]byte
	var out *gatelatch.Server
	for _, d := range b.definitions(s.Project) {
		if !strings.HasPrefix(tool, mcpPrefix+toolName(d.name)+"__") {
			continue
		}
		fields = append(fields, []byte(d.source), []byte(d.name), ordered(d.raw))
		if out == nil {
			out = &gatelatch.Server{Name: d.name, Source: d.source, Launch: launch(d.raw)}
		}
	}
	if out != nil {
		out.Sum = gatelatch.SumFields("gatelatch.server.v1", fields...)
	}
	return out
}

// definitions reads all servers that a session may have, by precedence. A file
// that can't be read defines none.
func (b *Binder) definitions(project string) (out []definition) {
	type servers struct {
		Servers map[string]json.RawMessage `json:"mcpServers"`
	}
	add := func(source string, of servers) {
		for _, name := range slices.Sorted(maps.Keys(of.Servers)) {
			out = append(out, definition{name, source, of.Servers[name]})
		}
	}
	var managed, shared servers
	var own struct {
		servers
		Projects map[string]servers `json:"projects"`
	}
	readServers(managedServers, &managed)
	settings := filepath.Join(b.home, ".claude.json")
	if b.home != "" {
		readServers(settings, &own)
	}
	add(managedServers, managed)
	if filepath.IsAbs(project) {
		add(settings+" (project)", own.Projects[project])
		file := filepath.Join(project, ".mcp.json")
		readServers(file, &shared)
		add(file, shared)
	}
	add(settings, own.servers)
	return out
}

func readServers(path string, into any) {
	resolved, err := resolve(path, nil)
	if err != nil {
		return
	}
	f, err := os.OpenFile(filepath.FromSlash(resolved), openPlain, 0)
	if err != nil {
		return
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return
	}
	if raw, err := readLimited(f, path, maxServers); err == nil {
		_ = json.Unmarshal(raw, into) // what can't be read, Claude Code does not use either
	}
}

var notInToolNames = regexp.MustCompile(`[^a-zA-Z0-9_-]`)

// toolName is a server's name as it stands in the names of its tools.
func toolName(server string) string { return notInToolNames.ReplaceAllString(server, "_") }

// ordered is a definition with its fields in order.
func ordered(raw json.RawMessage) []byte {
	var v any
	if json.Unmarshal(raw, &v) != nil {
		return raw
	}
	out, err := json.Marshal(v)
	if err != nil {
		return raw
	}
	return out
}

// launch says how a server is reached. Its environment may hold secrets.
func launch(raw json.RawMessage) string {
	var d struct {
		Command string   `json:"command"`
		Args    []string `json:"args"`
		URL     string   `json:"url"`
	}
	_ = json.Unmarshal(raw, &d) // then there is nothing to show
	text := strings.Join(append([]string{d.Command}, d.Args...), " ")
	if d.Command == "" {
		text = d.URL
	}
	if len(text) > maxLaunch {
		text = strings.ToValidUTF8(text[:maxLaunch], "") + "…"
	}
	return text
}
