// Package first answers "gatelatch hook" before the program is initialised:
// Go initialises a package as soon as those it needs are, so that the hook does
// not pay for what only the gateway needs. To import it is all there is to do.
package first

import (
	"os"

	"github.com/gatelatch/gatelatch/adapter/hookcmd"
)

func init() {
	// The hook answers for itself: an error of ours must still be a denial.
	if len(os.Args) > 1 && os.Args[1] == "hook" && !asksForHelp(os.Args[2:]) {
		os.Exit(hookcmd.Main(os.Args[2:], os.Stdin, os.Stdout, os.Stderr, os.Getenv))
	}
}

func asksForHelp(args []string) bool {
	return len(args) == 1 && (args[0] == "--help" || args[0] == "-h")
}
