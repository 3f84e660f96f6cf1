package main

import (
	"context"
	"errors"
	"fmt"
	"html"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"

	"github.com/gatelatch/gatelatch/api"
	"github.com/gatelatch/gatelatch/client"
	"github.com/gatelatch/gatelatch/internal/qr"
	"github.com/gatelatch/gatelatch/internal/statedir"
	"github.com/spf13/cobra"
)

func newOpenCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "open",
		Short: "Open the page in your browser, logged in",
		Long: `Open the page in your browser. The link logs one browser in, once, within a
minute; after that the browser stays logged in.

With --qr the link is drawn for the camera of a phone. It leads to the gateway's
--public-url, which the phone must be able to reach.`,
		Args: cobra.NoArgs,
	}
	only := cmd.Flags().Bool("print", false, "only print the link")
	phone := cmd.Flags().Bool("qr", false, "draw the link for a phone")
	return person(cmd, func(ctx context.Context, c *client.Client, asJSON bool) error {
		dir := c.State()
		code, err := c.LoginCode(ctx)
		if err != nil {
			return err
		}
		if asJSON {
			return printJSON(cmd, code)
		}
		if *phone {
			return drawLink(cmd.OutOrStdout(), code)
		}
		if !*only && browse(dir, code.URL) == nil {
			fmt.Fprintln(os.Stderr, "gatelatch: opened your browser; if nothing shows, use \"gatelatch open --print\"")
			return nil
		}
		_, err = fmt.Fprintln(cmd.OutOrStdout(), code.URL)
		return err
	})
}

func drawLink(w io.Writer, code api.LoginCode) error {
	if code.Public == "" {
		return withHint(errors.New("a phone can't reach this gateway"),
			`start it with --public-url https://…, the address of a tunnel or proxy that leads to it`)
	}
	rows, err := qr.Rows(code.Public)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "%s\nFor one device, once, within a minute: %s\n", qr.Terminal(rows), code.Public)
	return err
}

// browse opens the link in the desktop's browser. It goes by way of a file that
// only we can read: arguments of a process are for everybody to see.
func browse(dir statedir.Dir, link string) error {
	if runtime.GOOS == "linux" && os.Getenv("DISPLAY") == "" && os.Getenv("WAYLAND_DISPLAY") == "" {
		return errors.New("no desktop")
	}
	page := filepath.Join(dir.Run(), "open.html")
	text := `<!doctype html><meta http-equiv="refresh" content="0;url=` + html.EscapeString(link) + `"><title>Gatelatch</title>`
	if err := os.WriteFile(page, []byte(text), 0o600); err != nil {
		return err
	}
	switch runtime.GOOS {
	case "darwin":
		return exec.Command("open", page).Run()
	case "windows":
		return exec.Command("rundll32", "url.dll,FileProtocolHandler", page).Run()
	}
	return exec.Command("xdg-open", page).Run()
}
