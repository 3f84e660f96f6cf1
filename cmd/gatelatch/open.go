package main

import (
	"context"
	"errors"
	"fmt"
	"html"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"

	"github.com/gatelatch/gatelatch/client"
	"github.com/gatelatch/gatelatch/internal/statedir"
	"github.com/spf13/cobra"
)

func newOpenCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "open",
		Short: "Open the page in your browser, logged in",
		Long: `Open the page in your browser. The link logs one browser in, once, within a
minute; after that the browser stays logged in.`,
		Args: cobra.NoArgs,
	}
	only := cmd.Flags().Bool("print", false, "only print the link")
	return person(cmd, func(ctx context.Context, c *client.Client, asJSON bool) error {
		dir := c.State()
		code, err := c.LoginCode(ctx)
		if err != nil {
			return err
		}
		if asJSON {
			return printJSON(cmd, code)
		}
		if !*only && browse(dir, code.URL) == nil {
			fmt.Fprintln(os.Stderr, "gatelatch: opened your browser; if nothing shows, use \"gatelatch open --print\"")
			return nil
		}
		_, err = fmt.Fprintln(cmd.OutOrStdout(), code.URL)
		return err
	})
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
