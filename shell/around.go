package shell

import "strings"

// Around reports whether an effect comes from what stands around the command: a
// redirection, a variable in front of it, the configuration that Git finds. No
// rule about the command's words speaks about that.
func (e Effect) Around() bool {
	switch e.Code {
	case "VARIABLE", "VARIABLE_RUNS", "EXPORT", "REDIRECT", "GIT_CONFIG_RUNS", "GIT_CONFIG_UNKNOWN":
		return true
	}
	return strings.HasSuffix(e.Code, "_REDIRECT")
}
