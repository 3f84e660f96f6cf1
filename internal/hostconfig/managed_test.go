package hostconfig

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func managedHook() Hook {
	h := testHook()
	h.Only = true
	return h
}

func TestManagedSettingsRunNoOtherHooks(t *testing.T) {
	for settings, want := range map[string]string{
		``:                                `"allowManagedHooksOnly": true`,
		`{"a":1}`:                         `"allowManagedHooksOnly":true`,
		`{"allowManagedHooksOnly": true}`: `{"allowManagedHooksOnly": true, "hooks"`,
	} {
		got := string(mustClaude(t, []byte(settings), managedHook()))
		if strings.Count(got, "allowManagedHooksOnly") != 1 || !strings.Contains(got, want) {
			t.Errorf("%q: got %s", settings, got)
		}
		if again := string(mustClaude(t, []byte(got), managedHook())); again != got {
			t.Errorf("%q: the second time changed it to %s", settings, again)
		}
		if got := ClaudeDrift([]byte(got), managedHook()); got != "" {
			t.Errorf("%q: drifted at once: %s", settings, got)
		}
		if got := ClaudeDrift(mustClaude(t, []byte(`{}`), testHook()), managedHook()); !strings.Contains(got, "allowManagedHooksOnly") {
			t.Errorf("without the switch: got %q", got)
		}
	}
	if _, err := Claude([]byte(`{"allowManagedHooksOnly":false}`), managedHook()); err == nil {
		t.Error("somebody else's choice was overruled")
	}
}

// What was there before stays, whatever happened to the file meanwhile.
func TestUninstallTakesTheSwitchOnlyIfItIsOurs(t *testing.T) {
	for original, want := range map[string]string{
		"":                               `{"later": true}`,
		`{"a":1}`:                        `{"later": true,"a":1}`,
		`{"allowManagedHooksOnly":true}`: `{"later": true,"allowManagedHooksOnly":true}`,
		`{"hooks":{}}`:                   `{"later": true}`,
	} {
		var before []byte
		if original != "" {
			before = []byte(original)
		}
		change, err := Install(before, nil, managedHook())
		if err != nil {
			t.Fatal(err)
		}
		edited := strings.Replace(string(change.Settings), "{", `{"later": true,`, 1)
		back, err := Uninstall([]byte(edited), change.Backup, true)
		if err != nil {
			t.Fatal(err)
		}
		var got, wanted any
		if json.Unmarshal(back.Settings, &got) != nil || json.Unmarshal([]byte(want), &wanted) != nil || !reflect.DeepEqual(got, wanted) {
			t.Errorf("%q: got %s, want %s", original, back.Settings, want)
		}
	}
}

func TestUninstallGivesBackAnyManagedBytes(t *testing.T) {
	checkRoundTripOf(t, nil, managedHook())
	rapid.Check(t, func(t *rapid.T) { checkRoundTripOf(t, []byte(drawSettings(t)), managedHook()) })
}

// An edit between the two gives what the same edit would have given alone.
func TestUninstallTakesOutOnlyOurs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := testHook()
		h.Only = rapid.Bool().Draw(t, "managed")
		settings := []byte(drawSettings(t))
		change, err := Install(settings, nil, h)
		if err != nil {
			t.Fatal(err)
		}
		edit := drawEdit(t)
		back, err := Uninstall(edit(t, change.Settings), change.Backup, h.Only)
		if err != nil {
			t.Fatal(err)
		}
		got, want := meaning(t, back.Settings), meaning(t, edit(t, settings))
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("of %s: got %v, want %v", settings, got, want)
		}
	})
}

// drawEdit draws what a person, or Claude Code itself, may do to the file.
func drawEdit(t *rapid.T) func(*rapid.T, []byte) []byte {
	event := rapid.SampledFrom([]string{"PreToolUse", "Stop", "Notification"}).Draw(t, "edited event")
	hook := rapid.Bool().Draw(t, "adds a hook")
	return func(t *rapid.T, text []byte) []byte {
		root, err := parse(text)
		if err == nil {
			text, err = insert(text, layoutOf(text, root), root, "later", []int{1, 2})
		}
		if err == nil && hook {
			text, err = add(text, Entry{Event: event, Matcher: "Edit", Command: "/usr/bin/true", Timeout: 1})
		}
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
}

// meaning is what settings say; a list of no hooks says nothing.
func meaning(t *rapid.T, text []byte) map[string]any {
	var out map[string]any
	if err := json.Unmarshal([]byte(strings.TrimPrefix(string(text), bom)), &out); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	hooks, ok := out["hooks"].(map[string]any)
	for event, groups := range hooks {
		if list, isList := groups.([]any); isList && len(list) == 0 {
			delete(hooks, event)
		}
	}
	if ok && len(hooks) == 0 {
		delete(out, "hooks")
	}
	return out
}
