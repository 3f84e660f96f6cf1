// Command hello is the least a Go process can do: the yardstick of the hook.
package main

import "os"

func main() { _, _ = os.Stdout.WriteString("hello\n") }
