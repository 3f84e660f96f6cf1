package watch

import (
	"strings"
	"unicode/utf8"
)

// Key is what the person pressed: a character, or the name of a key.
type Key string

// Keys that are no character.
const (
	KeyUp        Key = "up"
	KeyDown      Key = "down"
	KeyPageUp    Key = "page up"
	KeyPageDown  Key = "page down"
	KeyEnter     Key = "enter"
	KeyEscape    Key = "escape"
	KeyBackspace Key = "backspace"
	KeyTab       Key = "tab"
	KeyClear     Key = "clear"  // Ctrl-U
	KeyRedraw    Key = "redraw" // Ctrl-L
	KeyQuit      Key = "quit"   // Ctrl-C
	KeyFocus     Key = "focus"  // the terminal came to the front
	keyUnknown   Key = "unknown"
)

var sequences = map[string]Key{
	"[A": KeyUp, "[B": KeyDown, "OA": KeyUp, "OB": KeyDown,
	"[5~": KeyPageUp, "[6~": KeyPageDown, "[I": KeyFocus,
}

var controls = map[byte]Key{
	'\r': KeyEnter, '\n': KeyEnter, '\t': KeyTab, 0x7f: KeyBackspace, 0x08: KeyBackspace,
	0x03: KeyQuit, 0x04: KeyQuit, 0x0c: KeyRedraw, 0x15: KeyClear,
}

// Pasted is a text that came at once. It never counts as keys.
type Pasted string

// Keys reads what a terminal sends.
type Keys struct{ rest []byte }

const pasteBegin, pasteEnd = "\x1b[200~", "\x1b[201~"

// Feed takes bytes and returns the keys and pasted texts that are complete.
func (k *Keys) Feed(b []byte) (out []any) {
	k.rest = append(k.rest, b...)
	for len(k.rest) > 0 {
		event, n := next(k.rest)
		if n == 0 {
			return out
		}
		k.rest = k.rest[n:]
		if event != keyUnknown {
			out = append(out, event)
		}
	}
	return out
}

// Open reports whether an escape was begun. If nothing follows soon, it was the
// key of that name.
func (k *Keys) Open() bool { return len(k.rest) == 1 && k.rest[0] == 0x1b }

// Flush takes an escape that nothing followed as the key.
func (k *Keys) Flush() []any {
	if !k.Open() {
		return nil
	}
	k.rest = nil
	return []any{KeyEscape}
}

// next returns the first event and how many bytes it took, 0 if more must come.
func next(b []byte) (any, int) {
	switch c := b[0]; {
	case c == 0x1b:
		return escape(b)
	case c < 0x20 || c == 0x7f:
		if key, ok := controls[c]; ok {
			return key, 1
		}
		return keyUnknown, 1
	case !utf8.FullRune(b):
		return keyUnknown, 0
	}
	r, n := utf8.DecodeRune(b)
	if r == utf8.RuneError {
		return keyUnknown, n
	}
	return Key(string(r)), n
}

func escape(b []byte) (any, int) {
	if strings.HasPrefix(string(b), pasteBegin) {
		text, _, ok := strings.Cut(string(b[len(pasteBegin):]), pasteEnd)
		if !ok {
			return keyUnknown, 0
		}
		return Pasted(text), len(pasteBegin) + len(text) + len(pasteEnd)
	}
	if len(b) == 1 {
		return keyUnknown, 0
	}
	if b[1] != '[' && b[1] != 'O' {
		return keyUnknown, 2 // with Alt, or a second escape
	}
	for i, c := range b[2:] {
		if c >= 0x40 && c <= 0x7e {
			if key, ok := sequences[string(b[1:i+3])]; ok {
				return key, i + 3
			}
			return keyUnknown, i + 3
		}
	}
	if len(b) > 64 {
		return keyUnknown, len(b)
	}
	return keyUnknown, 0
}
