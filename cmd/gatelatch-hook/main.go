// Command gatelatch-hook is the hook that an agent runs before each tool call.
// It is the same code as "gatelatch hook", linked alone so that it starts fast.
package main

import (
	"fmt"
	"os"

	"github.com/gatelatch/gatelatch/adapter/hookcmd"
)

var version = "dev"

func main() {
	if len(os.Args) == 2 && os.Args[1] == "--version" {
		fmt.Println("gatelatch-hook version " + version)
		return
	}
	os.Exit(hookcmd.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr, os.Getenv))
}
