package userservice

import (
	"fmt"
	"path/filepath"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Marker is in every unit of ours, so that nobody else's is overwritten.
const Marker = "Written by gatelatch service install."

// SystemdName is the unit's name.
const SystemdName = "gatelatch.service"

// Systemd returns the text of the user unit.
func Systemd(g Gateway) (string, error) {
	if err := g.check(); err != nil {
		return "", err
	}
	if strings.ContainsAny(g.Program, `"'\\`) {
		return "", fmt.Errorf("systemd runs no program with a quote or a backslash in its path: %s", g.Program)
	}
	command := g.Command()
	words := []string{systemdProgram(command[0])}
	for _, arg := range command[1:] {
		words = append(words, systemdWord(arg))
	}
	return `# ` + Marker + `
[Unit]
Description=Gatelatch gateway
Documentation=https://github.com/gatelatch/gatelatch

[Service]
Type=simple
ExecStart=` + strings.Join(words, " ") + `
Restart=on-failure
RestartSec=1
UMask=0077
NoNewPrivileges=yes
LimitCORE=0

[Install]
WantedBy=default.target
`, nil
}

func (g Gateway) check() error {
	paths := []string{g.Program, g.State}
	if g.Config != "" {
		paths = append(paths, g.Config)
	}
	for _, p := range paths {
		if !filepath.IsAbs(p) {
			return fmt.Errorf("%q is not an absolute path", p)
		}
		if !utf8.ValidString(p) || strings.ContainsFunc(p, unicode.IsControl) {
			return fmt.Errorf("%q cannot stand in a service's file", p)
		}
	}
	return nil
}

// systemdProgram differs from systemdWord in "$": systemd replaces variables,
// and so reads "$$", in the arguments but not in the program's path.
func systemdProgram(path string) string {
	return systemdQuote(strings.ReplaceAll(path, "%", "%%"))
}

func systemdWord(word string) string {
	return systemdQuote(strings.NewReplacer("%", "%%", "$", "$$").Replace(word))
}

// systemdQuote puts quotes around all that is not plainly harmless.
func systemdQuote(word string) string {
	plain := func(r rune) bool {
		return r < 0x80 && (unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("/._-+=:@%$", r))
	}
	if word != "" && !strings.ContainsFunc(word, func(r rune) bool { return !plain(r) }) {
		return word
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(word) + `"`
}
