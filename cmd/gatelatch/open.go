package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"

	"github.com/gatelatch/gatelatch/client"
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
		code, err := c.LoginCode(ctx)
		if err != nil {
			return err
		}
		if asJSON {
			return printJSON(cmd, code)
		}
		if !*only && browse(code.URL) == nil {
			fmt.Fprintln(os.Stderr, "gatelatch: opened your browser; if nothing shows, use \"gatelatch open --print\"")
			return nil
		}
		_, err = fmt.Fprintln(cmd.OutOrStdout(), code.URL)
		return err
	})
}

// browse hands the link to the desktop. The code in it is single-use and
// short-lived, so that it may pass through an argument list.
func browse(url string) error {
	switch runtime.GOOS {
	case "darwin":
		return exec.Command("open", url).Run()
	case "windows":
		return exec.Command("rundll32", "url.dll,FileProtocolHandler", url).Run()
	}
	if os.Getenv("DISPLAY") == "" && os.Getenv("WAYLAND_DISPLAY") == "" {
		return fmt.Errorf("no desktop")
	}
	return exec.Command("xdg-open", url).Run()
}
