package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/api"
	"github.com/gatelatch/gatelatch/render"
)

// logLine is an event in one line: when, who, what, which, and how it stands.
// It knows no kinds of events, so that new ones show, too.
func logLine(e api.Event) string {
	id := e.Call
	if id == "" {
		id = e.Batch
	}
	if id == "" {
		id = "-"
	}
	line := fmt.Sprintf("%s  %s  %-15s  %-14s  %s", e.At.Local().Format("2006-01-02 15:04:05"),
		pad(logActor(e.By), 20), render.OneLine(e.Kind), render.OneLine(shortID(id)), strings.Join(logBody(e.Body), " "))
	return strings.TrimRight(line, " ")
}

// logActor names who acted; what is not a person says what it is.
func logActor(a api.Actor) string {
	name := a.Name
	switch {
	case gatelatch.ActorKind(a.Kind) == gatelatch.PersonActor && name != "":
	case name != "":
		name = a.Kind + " " + name
	case a.ID != "":
		name = a.Kind + " " + shortID(a.ID)
	default:
		name = a.Kind
	}
	return cut(render.OneLine(name), 28)
}

func pad(s string, width int) string {
	return s + strings.Repeat(" ", max(0, width-len([]rune(s))))
}

// logBody returns the short members of a body, the state first. Hashes are for
// machines.
func logBody(raw json.RawMessage) (out []string) {
	var body map[string]any
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	if len(raw) == 0 {
		return nil
	}
	if err := dec.Decode(&body); err != nil {
		return []string{cut(render.OneLine(string(raw)), 80)}
	}
	for _, first := range []string{"state", "effect"} {
		if s, ok := body[first].(string); ok {
			out = append(out, cut(render.OneLine(s), 20))
			delete(body, first)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(body)) {
		if value := logValue(body[name]); value != "" {
			out = append(out, render.OneLine(name)+"="+cut(value, 80))
		}
	}
	return out
}

// logValue is a short value as it is shown, "" if it is not.
func logValue(v any) string {
	switch v := v.(type) {
	case bool, json.Number:
		return fmt.Sprint(v)
	case string:
		s := render.OneLine(v)
		switch {
		case new(gatelatch.Sum).UnmarshalText([]byte(v)) == nil:
			return ""
		case strings.ContainsAny(s, " \"="):
			return `"` + strings.ReplaceAll(s, `"`, `\"`) + `"`
		}
		return s
	default:
		return ""
	}
}
