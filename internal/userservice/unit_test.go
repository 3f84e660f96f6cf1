package userservice

import (
	"encoding/xml"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("differs from %s: got\n%s", file, got)
	}
}

func unixOnly(t *testing.T) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("needs absolute paths of Unix")
	}
}

var gateways = map[string]Gateway{
	"plain":  {Program: "/usr/bin/gatelatch", State: "/home/ada/.local/state/gatelatch"},
	"config": {Program: "/usr/bin/gatelatch", State: "/home/ada/state", Config: "/home/ada/.config/gatelatch"},
	"odd":    {Program: "/opt/a $b/50%/gatelatch", State: `/home/o'neil & co/$HOME/100%/"q"\z`, Config: "/home/é<x>/;"},
}

func TestUnits(t *testing.T) {
	unixOnly(t)
	for name, g := range gateways {
		unit, err := Systemd(g)
		if err != nil {
			t.Fatal(err)
		}
		golden(t, name+".service", unit)
		plist, err := Launchd(g, "/Users/ada/Library/Logs/gatelatch.log")
		if err != nil {
			t.Fatal(err)
		}
		golden(t, name+".plist", plist)
	}
}

// What examples/deploy has to copy is what "service install" writes, or would.
func TestExampleUnits(t *testing.T) {
	unixOnly(t)
	const program = "/usr/local/bin/gatelatch"
	machine, err := SystemdMachine(Gateway{Program: program, State: "/var/lib/gatelatch", Config: "/etc/gatelatch"}, "gatelatch")
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "../../../examples/deploy/gatelatch.service", machine)
	user, err := Systemd(Gateway{Program: program, State: "/HOME/.local/state/gatelatch", Config: "/HOME/.config/gatelatch"})
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "../../../examples/deploy/gatelatch.user.service", strings.ReplaceAll(user, "/HOME", "%h"))
	if _, err := SystemdMachine(Gateway{Program: "g", State: "/s"}, "gatelatch"); err == nil {
		t.Error("a relative program is taken")
	}
}

func TestLaunchdIsXMLAndKeepsTheArguments(t *testing.T) {
	unixOnly(t)
	g := gateways["odd"]
	plist, err := Launchd(g, "/log")
	if err != nil {
		t.Fatal(err)
	}
	var texts []string
	dec := xml.NewDecoder(strings.NewReader(plist))
	for {
		tok, err := dec.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if c, ok := tok.(xml.CharData); ok {
			texts = append(texts, string(c))
		}
	}
	all := strings.Join(texts, "\x00")
	for _, arg := range g.Command() {
		if !strings.Contains(all, "\x00"+arg+"\x00") {
			t.Errorf("%q is missing", arg)
		}
	}
}

func TestSystemdWord(t *testing.T) {
	for in, want := range map[string]string{
		"/usr/bin/x":  "/usr/bin/x",
		"--state":     "--state",
		"a b":         `"a b"`,
		"":            `""`,
		";":           `";"`,
		"50%":         "50%%",
		"$HOME/a":     "$$HOME/a",
		"${X} y":      `"$${X} y"`,
		`a"b`:         `"a\"b"`,
		`a\x20b`:      `"a\\x20b"`,
		"it's":        `"it's"`,
		"é":           `"é"`,
		"#no comment": `"#no comment"`,
	} {
		if got := systemdWord(in); got != want {
			t.Errorf("%q: got %s, want %s", in, got, want)
		}
	}
}

func TestSystemdRefusesPrograms(t *testing.T) {
	unixOnly(t)
	for _, program := range []string{`/a"b/g`, "/o'neil/g", `/a\b/g`} {
		if unit, err := Systemd(Gateway{Program: program, State: "/s"}); err == nil {
			t.Errorf("got %s", unit)
		}
	}
}

func TestUnitsRefuse(t *testing.T) {
	unixOnly(t)
	for name, g := range map[string]Gateway{
		"relative program": {Program: "gatelatch", State: "/s"},
		"no state":         {Program: "/g"},
		"relative config":  {Program: "/g", State: "/s", Config: "c"},
		"line break":       {Program: "/g", State: "/s\nExecStartPre=/bin/evil"},
		"not UTF-8":        {Program: "/g", State: "/s\xff"},
	} {
		if unit, err := Systemd(g); err == nil {
			t.Errorf("%s: got %s", name, unit)
		}
		if plist, err := Launchd(g, "/l"); err == nil {
			t.Errorf("%s: got %s", name, plist)
		}
	}
}
