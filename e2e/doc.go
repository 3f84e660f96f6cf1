// Package e2e proves the product's promises on the real things: the built
// binaries, a real Claude Code process that a scripted model drives, and a real
// Chromium that decides. Nothing leaves the loopback interface, and each test
// has a HOME, a project and a gateway of its own.
//
// "make test" provides what the tests need and names it in CLAUDE_BIN,
// CHROMIUM, GATELATCH_BIN and GATELATCH_HOOK_BIN. Without these, "go test ./e2e"
// builds the binaries and looks for the rest itself. A missing part fails the
// test; it never skips it.
package e2e
