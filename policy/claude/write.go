package claude

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// keys of a policy file, in the order they are written.
var keys = []string{"deny", "ask", "allow", "projects"}

// YAML writes the rules as a policy file, with a comment for everything that
// is not as it was.
func (im *Import) YAML() []byte {
	var b bytes.Buffer
	b.WriteString("version: 1\n")
	for _, note := range im.Notes {
		comment(&b, note)
	}
	for _, key := range keys {
		if block := im.Block(key); block != "" {
			fmt.Fprintf(&b, "\n%s:\n%s", key, indent(block))
		}
	}
	return b.Bytes()
}

// Block returns what stands under a key of the policy file, without indent.
func (im *Import) Block(key string) string {
	if key != "projects" {
		return im.list(key, "")
	}
	var b strings.Builder
	for _, p := range im.projects() {
		fmt.Fprintf(&b, "- path: %s\n", scalar(p))
		for _, key := range keys[:3] {
			if list := im.list(key, p); list != "" {
				b.WriteString(indent(key + ":\n" + indent(list)))
			}
		}
	}
	return b.String()
}

func indent(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString("  " + line)
	}
	return b.String()
}

func (im *Import) projects() (out []string) {
	for _, r := range im.Rules {
		out = append(out, r.Project)
	}
	for _, l := range im.Left {
		out = append(out, l.Project)
	}
	slices.Sort(out)
	return slices.DeleteFunc(slices.Compact(out), func(p string) bool { return p == "" })
}

// list returns the rules of one effect that hold in a project, or in all.
func (im *Import) list(effect, project string) string {
	var b bytes.Buffer
	file := ""
	from := func(name string) {
		if name != file && name != "" {
			file = name
			comment(&b, "from "+name)
		}
	}
	for _, r := range im.Rules {
		if r.Effect.String() == effect && r.Project == project {
			from(r.File)
			r.write(&b)
		}
	}
	for _, l := range im.Left {
		if l.Effect.String() == effect && l.Project == project {
			from(l.File)
			comment(&b, "left out: "+l.Was+": "+l.Why)
		}
	}
	return b.String()
}

func (r *Rule) write(b *bytes.Buffer) {
	if r.Note != "" {
		comment(b, cmp.Or(r.Was, r.Text)+": "+r.Note)
	}
	if r.Field == "" {
		fmt.Fprintf(b, "- %s\n", scalar(r.Text))
		return
	}
	fmt.Fprintf(b, "- rule: %s\n  where: {%s: {matches: %s}}\n", scalar(r.Text), scalar(r.Field), quote(r.Matches))
}

// comment writes text that others wrote: it must stay on its line.
func comment(b *bytes.Buffer, text string) {
	text = strings.Map(func(r rune) rune {
		if r < ' ' || r >= 0x7F && r < 0xA0 || r == 0x2028 || r == 0x2029 || r == 0xFEFF || r == 0xFFFD {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, "?"))
	fmt.Fprintf(b, "# %s\n", text)
}

// scalar writes a text in one line, with quotes if YAML needs them.
func scalar(text string) string {
	out, err := yaml.Marshal(text)
	if s := strings.TrimSuffix(string(out), "\n"); err == nil && !strings.ContainsAny(s, "\n{}[],") {
		return s
	}
	return quote(text)
}

// quote writes a text in double quotes, which say all there is.
func quote(text string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range text {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r < ' ' || r >= 0x7F:
			fmt.Fprintf(&b, `\U%08X`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}
