package shell

import "strings"

// git runs what its configuration says.
func git(u *usage, out WordValue) WordValue {
	if u.help {
		return out
	}
	if u.env.Files == nil || u.st.dir == "" {
		u.unknown("GIT_CONFIG_UNKNOWN", "")
		return out
	}
	settings, known := u.env.Files.GitRuns(u.st.dir)
	if !known {
		u.unknown("GIT_CONFIG_UNKNOWN", u.st.dir)
	}
	for _, s := range settings {
		u.add(Effect{Action: Executes, Code: "GIT_CONFIG_RUNS", Detail: s})
	}
	for _, w := range u.operands {
		// git diff reads files from anywhere if it is given their paths.
		if u.has("--no-index") || w.home || strings.HasPrefix(w.Text, "/") || strings.HasPrefix(w.Text, "..") && !strings.HasPrefix(w.Text, "...") {
			u.file(Reads, w, u.st)
		}
		if _, file, ok := strings.Cut(w.Text, ":"); ok && secretPath(file) {
			u.blame(ShowsSecret, "SECRET_FILE", w)
		}
	}
	if u.has("--line-prefix", "--format") {
		return WordValue{} // whatever the format says
	}
	if u.has("--name-only") && !u.has("--relative") {
		return WordValue{Kind: Listed}
	}
	return out
}

// gitRemote refuses transports that run a program.
func gitRemote(u *usage, out WordValue) WordValue {
	for _, w := range u.operands[:min(1, len(u.operands))] {
		if !w.Known() || strings.ContainsAny(w.Text, ":@/") {
			u.blame(Connects, "OPERAND_HOST", w)
		}
	}
	return out
}

// gitConfig shows a setting only if it is asked to.
func gitConfig(u *usage, out WordValue) WordValue {
	if len(u.operands) == 1 && u.operands[0].Known() && strings.Contains(u.operands[0].Text, ".") {
		return out // options that change are known as such
	}
	reads := u.has("--get", "--get-all", "--get-regexp", "--get-color", "--get-colorbool", "--get-urlmatch", "-l", "--list")
	if len(u.operands) > 0 && (u.operands[0].Text == "list" || u.operands[0].Text == "get") || reads {
		return out
	}
	u.add(Effect{Action: ChangesRepository, Code: "GIT_CONFIG", Detail: u.name})
	return out
}
