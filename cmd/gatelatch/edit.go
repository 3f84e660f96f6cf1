package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"unicode"
	"unicode/utf16"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/api"
	"github.com/gatelatch/gatelatch/client"
	"github.com/gatelatch/gatelatch/internal/strictjson"
	"github.com/spf13/cobra"
)

func newEditCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "edit ID [FILE]",
		Short: "Replace the input of a waiting call, then look at it again",
		Long: `Replace the input of a waiting call by the JSON of a file, of standard input (-)
or, without either, by what you make of it in $EDITOR. The call gets a new digest, is
judged again and goes on waiting: allow or deny it as it is then.`,
		Args: cobra.RangeArgs(1, 2),
	}
	return person(cmd, func(ctx context.Context, c *client.Client, asJSON bool) error {
		call, err := findCall(ctx, c, cmd.Flags().Arg(0))
		if err != nil {
			return err
		}
		if file := cmd.Flags().Arg(1); file != "" {
			call, err = replaceInput(ctx, cmd, c, call, file)
		} else {
			call, err = editInput(ctx, cmd, c, call)
		}
		switch {
		case err != nil:
			return err
		case asJSON:
			return printJSON(cmd, call)
		}
		printCall(cmd.OutOrStdout(), call)
		_, err = fmt.Fprintf(cmd.OutOrStdout(), "\nit still waits: gatelatch allow %s\n", shortID(call.ID))
		return err
	})
}

// replaceInput puts the JSON of a file in place of the input of a call.
func replaceInput(ctx context.Context, cmd *cobra.Command, c *client.Client, call api.Call, file string) (api.Call, error) {
	in := cmd.InOrStdin()
	if file != "-" {
		f, err := os.Open(file)
		if err != nil {
			return call, err
		}
		defer func() { _ = f.Close() }()
		in = f
	}
	raw, err := io.ReadAll(io.LimitReader(in, gatelatch.MostInput+1))
	if err != nil {
		return call, err
	}
	return sendInput(ctx, c, call, raw)
}

func sendInput(ctx context.Context, c *client.Client, call api.Call, raw []byte) (api.Call, error) {
	if len(raw) > gatelatch.MostInput {
		return call, errors.New("the input is too large")
	}
	if err := strictjson.Check(raw); err != nil {
		return call, fmt.Errorf("the input is no JSON: %w", err)
	}
	return c.Edit(ctx, call.ID, api.Edit{Digest: call.Digest, Input: raw})
}

// editInput lets the person change the input in an editor. Work that could not
// be used stays in its file.
func editInput(ctx context.Context, cmd *cobra.Command, c *client.Client, call api.Call) (api.Call, error) {
	before := readable(call.Input)
	name, err := tempFile(before)
	if err != nil {
		return call, err
	}
	after, err := runEditor(ctx, cmd, name)
	if err == nil && bytes.Equal(before, after) {
		err = errors.New("nothing was changed")
	}
	if err != nil {
		return call, errors.Join(err, os.Remove(name))
	}
	out, err := sendInput(ctx, c, call, after)
	if err != nil {
		return call, withHint(err, "what you wrote is in "+name)
	}
	_ = os.Remove(name)
	return out, nil
}

func tempFile(text []byte) (string, error) {
	f, err := os.CreateTemp("", "gatelatch-*.json")
	if err != nil {
		return "", err
	}
	_, err = f.Write(text)
	return f.Name(), errors.Join(err, f.Close())
}

// runEditor returns what the person made of the file.
func runEditor(ctx context.Context, cmd *cobra.Command, file string) ([]byte, error) {
	chosen := cmp.Or(os.Getenv("VISUAL"), os.Getenv("EDITOR"))
	if chosen == "" && isTerminal(cmd.InOrStdin()) {
		chosen = "vi"
	}
	words := strings.Fields(chosen)
	if len(words) == 0 {
		return nil, withHint(errors.New("there is no editor"), "set EDITOR, or give a file")
	}
	e := exec.CommandContext(ctx, words[0], append(words[1:], file)...) //nolint:gosec // the person's own choice
	e.Stdin, e.Stdout, e.Stderr = cmd.InOrStdin(), cmd.OutOrStdout(), cmd.ErrOrStderr()
	if err := e.Run(); err != nil {
		return nil, withHint(fmt.Errorf("the editor %s: %w", words[0], err), "set EDITOR, or give a file")
	}
	return os.ReadFile(file)
}

// readable indents JSON, with what an editor might hide or turn around as \u
// escapes. Outside of strings JSON is ASCII, so each of them is in a string.
func readable(raw json.RawMessage) []byte {
	var indented bytes.Buffer
	if err := json.Indent(&indented, raw, "", "  "); err != nil {
		return raw
	}
	var out bytes.Buffer
	for _, r := range indented.String() {
		switch {
		case r == '\n' || unicode.IsPrint(r):
			out.WriteRune(r)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&out, `\u%04x\u%04x`, high, low)
		default:
			fmt.Fprintf(&out, `\u%04x`, r)
		}
	}
	out.WriteByte('\n')
	return out.Bytes()
}
