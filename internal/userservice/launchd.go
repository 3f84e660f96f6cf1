package userservice

import (
	"encoding/xml"
	"strings"
)

// LaunchdLabel is the agent's label.
const LaunchdLabel = "dev.gatelatch.gateway"

// Launchd returns the property list of the agent. What the gateway prints goes
// to the log file: launchd would throw it away.
func Launchd(g Gateway, log string) (string, error) {
	if err := g.check(); err != nil {
		return "", err
	}
	var args strings.Builder
	for _, a := range g.Command() {
		args.WriteString("\t\t<string>" + xmlText(a) + "</string>\n")
	}
	return `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<!-- ` + Marker + ` -->
<plist version="1.0">
<dict>
	<key>Label</key>
	<string>` + LaunchdLabel + `</string>
	<key>ProgramArguments</key>
	<array>
` + args.String() + `	</array>
	<key>RunAtLoad</key>
	<true/>
	<key>KeepAlive</key>
	<dict>
		<key>SuccessfulExit</key>
		<false/>
	</dict>
	<key>ThrottleInterval</key>
	<integer>1</integer>
	<key>Umask</key>
	<string>077</string>
	<key>HardResourceLimits</key>
	<dict>
		<key>Core</key>
		<integer>0</integer>
	</dict>
	<key>StandardErrorPath</key>
	<string>` + xmlText(log) + `</string>
</dict>
</plist>
`, nil
}

func xmlText(s string) string {
	var b strings.Builder
	if err := xml.EscapeText(&b, []byte(s)); err != nil {
		panic("userservice: writing to memory failed: " + err.Error())
	}
	return b.String()
}
