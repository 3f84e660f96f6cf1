package hostconfig

import (
	"bytes"
	"encoding/json"
)

// BackupSuffix makes the name of a settings file's backup.
const BackupSuffix = ".gatelatch-backup"

// Change is what to write; nil means that there is to be no such file.
type Change struct {
	Settings []byte
	Backup   []byte
	Hooks    int // how many of our hooks were found before
}

// Install plans Claude over a file and its backup. In both, nil means that
// there is no file and is not the same as an empty one.
//
// A backup is planned only where the edited text alone does not tell what it
// was made from: "{}" and "{ }" look alike once something stands in them. Beside
// managed settings it lies always, if there were any: it tells whose the switch is.
func Install(settings, backup []byte, h Hook) (Change, error) {
	original, hooks, err := original(settings, backup, h.Only)
	if err != nil {
		return Change{}, err
	}
	out, err := Claude(settings, h)
	if err != nil {
		return Change{}, err
	}
	if bytes.Equal(out, settings) {
		return Change{Settings: settings, Backup: backup, Hooks: hooks}, nil
	}
	if out, err = Claude(original, h); err != nil {
		return Change{}, err
	}
	again, _, err := originalAlone(out, h.Only)
	if err != nil {
		return Change{}, err
	}
	change := Change{Settings: out, Hooks: hooks}
	if h.Only || !equalFile(again, original) {
		change.Backup = original
	}
	return change, nil
}

// Uninstall plans the way back. If nobody changed the file since Install, it
// gets its old bytes back, or goes if there was none; else our entries are
// taken out of it. In managed settings the switch of Hook.Only is one of them.
func Uninstall(settings, backup []byte, managed bool) (Change, error) {
	original, hooks, err := original(settings, backup, managed)
	if err != nil {
		return Change{}, err
	}
	if hooks == 0 {
		return Change{Settings: settings, Backup: backup}, nil
	}
	return Change{Settings: original, Hooks: hooks}, nil
}

// original trusts a backup only if installing over it gives the file again,
// byte for byte. So no later change of the file can be lost.
func original(settings, backup []byte, managed bool) (text []byte, hooks int, err error) {
	if backup == nil {
		return originalAlone(settings, managed)
	}
	// There was a file, so there must be one after us.
	text, hooks, err = RemoveClaude(settings)
	switch {
	case err != nil || hooks == 0:
		return text, hooks, err
	case madeFrom(settings, backup):
		return backup, hooks, nil
	case managed && !hasOnly(backup):
		text, err = removeOnly(text)
	}
	return text, hooks, err
}

func originalAlone(settings []byte, managed bool) (text []byte, hooks int, err error) {
	text, hooks, err = RemoveClaude(settings)
	switch {
	case err != nil || hooks == 0:
		return text, hooks, err
	case madeFrom(settings, nil):
		return nil, hooks, nil
	case managed: // without a backup there was no file, and no switch in it
		text, err = removeOnly(text)
	}
	return text, hooks, err
}

func madeFrom(settings, original []byte) bool {
	h, ok := hookOf(settings)
	if !ok {
		return false
	}
	again, err := Claude(original, h)
	return err == nil && bytes.Equal(again, settings)
}

// hookOf reads back the Hook that a file was made with.
func hookOf(settings []byte) (Hook, bool) {
	root, err := parse(settings)
	if err != nil {
		return Hook{}, false
	}
	for _, f := range findOurs(settings, root) {
		if f.event != "PreToolUse" {
			continue
		}
		var c command
		if json.Unmarshal(f.entry.raw(settings), &c) != nil {
			return Hook{}, false
		}
		return Hook{Command: c.Command, Args: c.Args, Timeout: c.Timeout, Only: hasOnly(settings)}, true
	}
	return Hook{}, false
}

func equalFile(a, b []byte) bool {
	return (a == nil) == (b == nil) && bytes.Equal(a, b)
}
