package main

import (
	"fmt"
	"path/filepath"
)

// world is a set of rules of four kinds in equal parts: read a folder, use an
// MCP tool, never write to a folder, fetch from a host.
type world struct {
	dir   string
	rules int
}

// A question is a call, with the answer that every engine has to give. "none"
// is that no rule speaks.
type question struct {
	tool, path, host string
	want             string
}

func (q question) String() string { return fmt.Sprintf("%s %s%s", q.tool, q.path, q.host) }

func (w world) folder(i int) string { return filepath.Join(w.dir, fmt.Sprintf("folder%05d", i)) }

func tool(i int) string { return fmt.Sprintf("mcp__server%05d__search", i) }

func host(i int) string { return fmt.Sprintf("host%05d.example.com", i) }

// each calls one of the four for every rule.
func (w world) each(read, use, write, fetch func(i int)) {
	for i := range w.rules / 4 {
		read(i)
		use(i)
		write(i)
		fetch(i)
	}
}

// questions ask for rules in the middle, and for what no rule covers.
func (w world) questions() []question {
	i := w.rules / 8
	return []question{
		{tool: "Read", path: w.folder(i) + "/src/main.go", want: "allow"},
		{tool: "Read", path: filepath.Join(w.dir, "elsewhere/main.go"), want: "none"},
		{tool: tool(i), want: "allow"},
		{tool: tool(w.rules), want: "none"},
		{tool: "Write", path: w.folder(i) + "/keys/a.txt", want: "deny"},
		{tool: "WebFetch", host: host(i), want: "allow"},
		{tool: "WebFetch", host: "www." + host(w.rules), want: "none"},
	}
}
