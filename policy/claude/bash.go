package claude

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/shell"
)

// bash converts what stands in Bash(…). A star stands for any text, ":*" and
// " *" at the end for more words or none.
func (c *converter) bash(pattern string) ([]Rule, error) {
	switch pattern {
	case "", "*", ":*":
		return c.everyCommand()
	}
	text, more := strings.CutSuffix(pattern, ":*")
	if !more {
		text, more = strings.CutSuffix(pattern, " *")
	}
	if c.effect != gatelatch.Allow {
		return c.forbidden(text, more), nil
	}
	if err := c.reads(text); err != nil {
		return nil, err
	}
	if !strings.Contains(text, "*") {
		return []Rule{{Text: bashRule(text, more)}}, nil
	}
	start := wholeWords(text)
	if start == "" {
		return nil, errors.New("it does not say which program")
	}
	whole := globText(text, oneCommand)
	if more {
		whole += "(?: " + oneCommand + ")?"
	}
	return []Rule{{Text: bashRule(start, true), Field: "command", Matches: whole}}, nil
}

// everyCommand is Bash alone. The host asks about removing even so.
func (c *converter) everyCommand() ([]Rule, error) {
	if c.effect != gatelatch.Allow {
		return []Rule{{Text: "Bash"}}, nil
	}
	if c.files {
		return nil, errors.New("other rules forbid files, which the host also looks for in commands")
	}
	return nil, errors.New("every command is too much; the host still asks about some of them")
}

// fileCommands read or write the files they name. The host applies rules about
// files to them.
var fileCommands = map[string]bool{}

func init() {
	for _, name := range strings.Fields(`
		cat head tail less more nl od xxd hexdump strings sed awk grep egrep fgrep rg ag ack find fd ls tree du stat file wc sort uniq cut
		paste join comm diff cmp tr jq yq base64 md5sum sha1sum sha256sum tac rev split csplit fold fmt column pr bat
		cp mv rm rmdir mkdir touch ln tee dd truncate shred install chmod chown chgrp rsync tar zip unzip gzip gunzip patch`) {
		fileCommands[name] = true
	}
}

// reads refuses an allow that would let a command at files that other rules
// forbid, and one for removing, which the host asks about where it matters.
func (c *converter) reads(text string) error {
	program, _, _ := strings.Cut(text, " ")
	switch {
	case program == "rm" || program == "rmdir":
		return errors.New("the host still asks about removing some folders, which can't be said here")
	case c.files && fileCommands[program]:
		return fmt.Errorf("other rules forbid files, which the host also looks for in what %s is given", program)
	}
	return nil
}

func bashRule(text string, more bool) string {
	if more {
		return "Bash(" + text + ":*)"
	}
	return "Bash(" + text + ")"
}

// wholeWords returns the words in front of the first one with a star.
func wholeWords(text string) string {
	before, _, _ := strings.Cut(text, "*")
	i := strings.LastIndexByte(before, ' ')
	return strings.TrimSpace(before[:max(i, 0)])
}

// oneCommand is text that can't begin another command.
const oneCommand = "[^;&|<>()$`\\n]*"

// globText writes a text with stars as a regular expression.
func globText(text, star string) string {
	parts := strings.Split(text, "*")
	for i, part := range parts {
		parts[i] = regexp.QuoteMeta(part)
	}
	return strings.Join(parts, star)
}

// forbidden converts a rule that asks or denies: by its first plain words, with
// anything behind them, if it is not all plain. Without such words it is looked
// for anywhere in the text.
func (c *converter) forbidden(text string, more bool) []Rule {
	if words, ok := shell.Words(text); ok && len(words) > 0 && !strings.Contains(text, "*") {
		return []Rule{{Text: bashRule(text, more)}}
	}
	start := ""
	for word := range strings.FieldsSeq(text) {
		if _, ok := shell.Words(word); !ok {
			break
		}
		start = strings.TrimSpace(start + " " + word)
	}
	if start != "" {
		return []Rule{{Text: bashRule(start, true), Note: "stricter: with anything behind these words"}}
	}
	anywhere := strings.Trim(text, "* ")
	if anywhere == "" {
		return []Rule{{Text: "Bash", Note: "stricter: for every command"}}
	}
	before := ".*"
	if text[0] != '*' {
		before = "(?:.*[^A-Za-z0-9_])?" // where a word begins
	}
	return []Rule{{Text: "Bash", Field: "command", Matches: "(?s:" + before + globText(anywhere, ".*") + ".*)", Note: "stricter: wherever this stands in the text"}}
}
