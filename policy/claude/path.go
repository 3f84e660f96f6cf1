package claude

import (
	"errors"
	"os"
	"path"
	"regexp"
	"strings"

	"github.com/gatelatch/gatelatch"
)

// fileTools write files. The host's rules for Edit are about all of them.
var fileTools = map[string]bool{"Edit": true, "Write": true, "MultiEdit": true, "NotebookEdit": true}

// path converts what stands in Read(…) and Edit(…): patterns as in .gitignore.
func (c *converter) path(tool, pattern string, has bool) ([]Rule, error) {
	tools := []string{tool}
	switch {
	case tool != "Read" && c.effect != gatelatch.Allow:
		tools = []string{"Edit"} // which then is about all of them, here too
	case tool == "Edit":
		tools = []string{"Edit", "Write", "MultiEdit", "NotebookEdit"}
	}
	globs, note := []string{""}, ""
	if has && pattern != "" && pattern != "*" && pattern != "**" {
		var err error
		if c.effect == gatelatch.Allow {
			globs, err = c.narrow(pattern)
		} else {
			globs, note = c.wide(pattern)
		}
		if err != nil {
			return nil, err
		}
	} else if has && c.effect == gatelatch.Allow {
		globs = []string{c.here() + "**/*"} // one star, or two, below where the agent starts
	}
	var rules []Rule
	for _, t := range tools {
		for _, glob := range globs {
			text := t
			if glob != "" {
				text += "(" + glob + ")"
			}
			rules = append(rules, Rule{Text: text, Note: note})
			note = "" // once
		}
	}
	return rules, nil
}

// plainGlob has what means the same in .gitignore and here.
var plainGlob = regexp.MustCompile(`^[^\[\]{}\\!?]*$`)

// narrow converts a pattern that allows.
func (c *converter) narrow(pattern string) ([]string, error) {
	if !plainGlob.MatchString(pattern) || strings.Contains(pattern, "..") {
		return nil, errExact
	}
	below, rest, ok := c.anchor(pattern)
	if !ok {
		return nil, errors.New("it begins with one slash, which means another folder in another version of the host")
	}
	if strings.HasSuffix(rest, "/") {
		rest += "**"
	}
	if below == "" { // a name, in any folder below where the agent starts
		below, rest = c.here(), "**/"+rest
	}
	if strings.HasSuffix("/"+rest, "/**") {
		rest += "/*" // there, the folder itself is not among what is in it
	}
	return []string{below + rest}, nil
}

// here is the folder where the agent starts.
func (c *converter) here() string {
	if c.file.Project != "" {
		return escape(c.file.Project) + "/"
	}
	return "./"
}

// anchor splits a pattern into the folder that it starts from, "" for any, and
// the rest. It is not ok if hosts differ in what the folder is.
func (c *converter) anchor(pattern string) (below, rest string, ok bool) {
	here := c.here()
	switch {
	case strings.HasPrefix(pattern, "//"):
		return "/", strings.TrimLeft(pattern, "/"), true
	case strings.HasPrefix(pattern, "~/"):
		return "~/", pattern[2:], true
	case strings.HasPrefix(pattern, "/"):
		return here, pattern[1:], c.file.Project != ""
	case strings.HasPrefix(pattern, "./"):
		return here, pattern[2:], true
	case strings.Contains(strings.TrimSuffix(pattern, "/"), "/"):
		return here, pattern, true
	}
	return "", pattern, true
}

// wide converts a pattern that asks or denies: the path, and all below it, in
// any folder unless it is absolute.
func (c *converter) wide(pattern string) (globs []string, note string) {
	pattern = strings.TrimPrefix(pattern, "!")
	below, rest, ok := c.anchor(pattern)
	if !ok || !strings.HasPrefix(pattern, "/") && !strings.HasPrefix(pattern, "~/") {
		below = "" // where the agent is, which may be any folder
	}
	if !plainGlob.MatchString(rest) || strings.Contains(rest, "..") {
		whole := rest
		rest, _ = path.Split(rest[:strings.IndexAny(rest+"[", `[]{}\!?.`)])
		note = "stricter: all of " + strings.TrimSuffix(below+rest, "/") + "/ instead of " + whole
	}
	rest = strings.TrimSuffix(strings.TrimPrefix(rest, "**/"), "/")
	switch {
	case (rest == "" || rest == "**") && (below == "" || below == "/"):
		return []string{""}, strings.Replace(note, "all of /", "every file", 1)
	case rest == "":
		return []string{below + "**"}, note
	case below == "":
		below = "**/"
	}
	if strings.HasSuffix(rest, "**") {
		return []string{below + rest}, note
	}
	return []string{below + rest, below + rest + "/**"}, note
}

// folder returns an absolute folder as a glob.
func (c *converter) folder(dir string) (string, bool) {
	if rest, ok := strings.CutPrefix(dir, "~/"); ok {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", false
		}
		dir = home + "/" + rest
	}
	if !path.IsAbs(dir) && c.file.Project != "" {
		dir = c.file.Project + "/" + dir
	}
	dir = path.Clean(dir)
	return escape(dir), path.IsAbs(dir) && dir != "/"
}

func escape(name string) string {
	return regexp.MustCompile(`[\\*?\[\]{}]`).ReplaceAllString(name, `\$0`)
}

// web converts WebFetch(domain:…). The host means exactly that host; a rule here
// means all below it, too.
func (c *converter) web(pattern string) ([]Rule, error) {
	name, ok := strings.CutPrefix(strings.ToLower(pattern), "domain:")
	bare := strings.TrimPrefix(name, "*.")
	switch {
	case !ok:
		return nil, errors.New("it names no domain")
	case strings.Contains(bare, "*"):
		return nil, errors.New("its star can't be said here")
	case c.effect != gatelatch.Allow:
		return []Rule{{Text: "WebFetch(domain:" + bare + ")"}}, nil
	}
	sub := ""
	if bare != name {
		sub = `(?:[A-Za-z0-9-]+\.)+`
	}
	return []Rule{{
		Text: "WebFetch(domain:" + bare + ")", Field: "url",
		Matches: `(?i:https?://` + sub + regexp.QuoteMeta(bare) + `)(?::[0-9]+)?(?:[/?#].*)?`,
	}}, nil
}
