// Command gatelatch-hook is the hook that an agent runs before each tool call.
// It is the same code as "gatelatch hook", linked alone so that it starts fast.
package main

import (
	"os"

	"github.com/gatelatch/gatelatch/adapter/hookcmd"
)

func main() {
	os.Exit(hookcmd.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr, os.Getenv))
}
