package main

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
)

func newManCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "man DIR",
		Short: "Write the man pages into a directory",
		Long: `Write a man page for each command into a directory. To have man find them:

  gatelatch man ~/.local/share/man/man1`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := os.MkdirAll(args[0], 0o755); err != nil { //nolint:gosec // as other directories of man pages
				return err
			}
			return writeManPages(cmd.Root(), args[0])
		},
	}
}

func writeManPages(cmd *cobra.Command, dir string) error {
	cmd.InitDefaultHelpFlag()
	file := filepath.Join(dir, manName(cmd)+".1")
	if err := os.WriteFile(file, manPage(cmd), 0o644); err != nil { //nolint:gosec // for everybody to read
		return err
	}
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			if err := writeManPages(c, dir); err != nil {
				return err
			}
		}
	}
	return nil
}

func manName(cmd *cobra.Command) string { return strings.ReplaceAll(cmd.CommandPath(), " ", "-") }

// manPage is the page of one command, in the macros of man(7).
func manPage(cmd *cobra.Command) []byte {
	p := &roff{}
	p.macro("TH", strings.ToUpper(manName(cmd)), "1", "", "gatelatch "+version, "Gatelatch")
	p.macro("nh") // names are typed as they stand: none is broken
	p.macro("SH", "NAME")
	p.line(manName(cmd) + " - " + lowerFirst(cmd.Short))
	p.macro("SH", "SYNOPSIS")
	p.line(useLine(cmd))
	p.macro("SH", "DESCRIPTION")
	p.prose(cmp.Or(cmd.Long, cmd.Short+"."))
	p.commands(cmd)
	if flags := cmd.NonInheritedFlags(); flags.HasAvailableFlags() {
		p.macro("SH", "OPTIONS")
		p.verbatim(flags.FlagUsagesWrapped(72))
	}
	if cmd.Example != "" {
		p.macro("SH", "EXAMPLES")
		p.verbatim(cmd.Example)
	}
	p.seeAlso(cmd)
	return p.Bytes()
}

func useLine(cmd *cobra.Command) string {
	if cmd.HasAvailableSubCommands() && !cmd.HasParent() {
		return cmd.CommandPath() + " COMMAND [flags]"
	}
	return cmd.UseLine()
}

func lowerFirst(s string) string { return strings.ToLower(s[:1]) + s[1:] }

// roff writes man pages.
type roff struct{ bytes.Buffer }

func (p *roff) macro(name string, args ...string) {
	p.WriteString("." + name)
	for _, a := range args {
		p.WriteString(` "` + strings.ReplaceAll(roffText(a), `"`, `\(dq`) + `"`)
	}
	p.WriteByte('\n')
}

// line writes one line of text. A dot or quote at its beginning is no command.
func (p *roff) line(s string) {
	if strings.HasPrefix(s, ".") || strings.HasPrefix(s, "'") {
		p.WriteString(`\&`)
	}
	p.WriteString(roffText(s) + "\n")
}

var roffText = strings.NewReplacer(`\`, `\e`, "-", `\-`, "`", `\(ga`, "^", `\(ha`, "~", `\(ti`).Replace

// verbatim keeps lines as they are.
func (p *roff) verbatim(text string) {
	p.macro("nf")
	for line := range strings.Lines(strings.Trim(text, "\n")) {
		p.line(strings.TrimRight(line, "\n"))
	}
	p.macro("fi")
}

// prose writes paragraphs; lines that are set in stay as they are.
func (p *roff) prose(text string) {
	for part := range strings.SplitSeq(strings.TrimSpace(text), "\n\n") {
		p.macro("PP")
		if strings.HasPrefix(part, " ") {
			p.verbatim(part)
			continue
		}
		for line := range strings.Lines(part) {
			p.line(strings.TrimRight(line, "\n"))
		}
	}
}

func (p *roff) commands(cmd *cobra.Command) {
	if !cmd.HasAvailableSubCommands() {
		return
	}
	p.macro("SH", "COMMANDS")
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			p.macro("TP")
			p.line(c.Name())
			p.line(c.Short + ".")
		}
	}
}

func (p *roff) seeAlso(cmd *cobra.Command) {
	var names []string
	if cmd.HasParent() {
		names = append(names, manName(cmd.Parent()))
	}
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			names = append(names, manName(c))
		}
	}
	if len(names) == 0 {
		return
	}
	p.macro("SH", "SEE ALSO")
	p.line(fmt.Sprintf("%s(1)", strings.Join(names, "(1), ")))
}
