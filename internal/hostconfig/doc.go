// Package hostconfig edits the settings of agent hosts, so that they ask the
// gateway before each tool call.
//
// It works on text and touches no file. Nothing but our own entries changes:
// the order of keys, the hooks of others, the spelling of numbers and strings
// and the layout stay as they are, byte for byte. Text that two programs could
// read differently (duplicate keys, comments) is refused.
package hostconfig
