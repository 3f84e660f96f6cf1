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

// sandbox is what both units refuse the gateway and the scripts it runs. It
// needs no rights to set up, so that it works in a user's manager, too.
const sandbox = `UMask=0077
NoNewPrivileges=yes
LimitCORE=0
LockPersonality=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
SystemCallArchitectures=native
`

// walls is what the machine's manager can refuse beyond that. Homes can be read:
// a change is shown beside the file as it is.
const walls = `CapabilityBoundingSet=
DevicePolicy=closed
PrivateDevices=yes
PrivateTmp=yes
ProtectClock=yes
ProtectControlGroups=yes
ProtectHome=read-only
ProtectHostname=yes
ProtectKernelLogs=yes
ProtectKernelModules=yes
ProtectKernelTunables=yes
ProtectSystem=strict
RemoveIPC=yes
RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6
RestrictNamespaces=yes
SystemCallErrorNumber=EPERM
SystemCallFilter=@system-service
SystemCallFilter=~@privileged @resources
`

// Systemd returns the text of the user unit.
func Systemd(g Gateway) (string, error) {
	command, err := g.systemdCommand()
	if err != nil {
		return "", err
	}
	return `# ` + Marker + `
[Unit]
Description=Gatelatch gateway
Documentation=https://github.com/gatelatch/gatelatch

[Service]
Type=simple
ExecStart=` + command + `
Restart=on-failure
RestartSec=1
` + sandbox + `
[Install]
WantedBy=default.target
`, nil
}

// SystemdMachine returns the text of a unit for the machine, which runs the
// gateway as a user of its own: out of reach of agents that run as others.
func SystemdMachine(g Gateway, user string) (string, error) {
	command, err := g.systemdCommand()
	if err != nil {
		return "", err
	}
	return `[Unit]
Description=Gatelatch gateway
Documentation=https://github.com/gatelatch/gatelatch
After=network.target

[Service]
Type=simple
User=` + user + `
StateDirectory=` + filepath.Base(g.State) + `
StateDirectoryMode=0700
RuntimeDirectory=gatelatch
RuntimeDirectoryMode=0711
ExecStart=` + command + `
Restart=on-failure
RestartSec=1
TimeoutStopSec=30
` + sandbox + walls + `
[Install]
WantedBy=multi-user.target
`, nil
}

func (g Gateway) systemdCommand() (string, error) {
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
	return strings.Join(words, " "), nil
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
