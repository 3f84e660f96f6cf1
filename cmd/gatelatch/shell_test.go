package main

import (
	"encoding/json"
	"strings"
	"testing"
)

const rows = `{"command":"ls -la","class":"should-allow","tier":"core","sources":["a"]}
{"command":"make","class":"should-allow","tier":"core","sources":["b"]}

{"command":"rm x","class":"must-ask","tier":"core","sources":["a"]}
{"command":"cat notes.txt","class":"must-ask","why":"a wrong label","tier":"core","sources":["a","b"]}
`

func TestShellCheckScores(t *testing.T) {
	t.Parallel()
	cmd := newShellCmd()
	var out strings.Builder
	cmd.SetOut(&out)
	cmd.SetIn(strings.NewReader(rows))
	cmd.SetArgs([]string{"check", "-", "--json"})
	if err := cmd.Execute(); err != nil {
		t.Fatal(err)
	}
	var got struct {
		MustAsk     struct{ Rows, Allowed int } `json:"must_ask"`
		ShouldAllow struct{ Rows, Asked int }   `json:"should_allow"`
		MedianUS    float64                     `json:"median_us"`
		Misses      []struct {
			Command string
			Reasons []string
		}
	}
	if err := json.Unmarshal([]byte(out.String()), &got); err != nil {
		t.Fatal(err)
	}
	switch {
	case got.MustAsk.Rows != 2 || got.MustAsk.Allowed != 1 || got.ShouldAllow.Rows != 2 || got.ShouldAllow.Asked != 1:
		t.Errorf("wrong counts: %s", out.String())
	case len(got.Misses) != 2 || got.Misses[0].Command != "make" || len(got.Misses[0].Reasons) == 0:
		t.Errorf("wrong misses: %+v", got.Misses)
	case got.MedianUS <= 0:
		t.Error("no time")
	}
}

func TestShellCheckPrintsRatesBySourceLeftOut(t *testing.T) {
	t.Parallel()
	cmd := newShellCmd()
	var out strings.Builder
	cmd.SetOut(&out)
	cmd.SetIn(strings.NewReader(rows))
	cmd.SetArgs([]string{"check", "-"})
	if err := cmd.Execute(); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`ALLOWED "cat notes.txt"`, `asked "make"`, "should-allow, without b", "must-ask, core"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in:\n%s", want, out.String())
		}
	}
}

func TestShellCheckOfRowsWithoutATier(t *testing.T) {
	t.Parallel()
	score, err := scoreShell(t.Context(), strings.NewReader(`{"command":"ls","class":"should-allow"}`))
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if score.write(&out); strings.Count(out.String(), "should-allow") != 1 {
		t.Errorf("a part for no tier:\n%s", out.String())
	}
}

func TestShellCheckRefusesOtherRows(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{"class": `{"command":"ls","class":"fine"}`, "json": `ls`} {
		if _, err := scoreShell(t.Context(), strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), "line 1") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
