package shell

// workDirs are options by which programs go to a folder first.
var workDirs = []string{"-C", "--dir", "--cwd", "--prefix", "-chdir"}

// root is what is known about the program itself.
func (u *usage) root() *spec {
	if len(u.chain) > 0 {
		return u.chain[0]
	}
	return u.spec
}

// project is for programs that only look, unless a file of the project makes
// them run code first.
func project(u *usage, out WordValue) WordValue {
	u.projectRuns()
	return out
}

func (u *usage) projectRuns() {
	if u.root().grammar != "project" || u.strange || u.spec.does&(1<<Executes) != 0 {
		return // it runs code in any case, or nobody knows
	}
	dir := u.st.dir
	if w, ok := u.value(workDirs...); ok {
		dir, _ = u.st.resolve(w)
	}
	name := u.facts.Commands[u.at].Words[0]
	if u.env.Files == nil || dir == "" || u.st.stay != "" {
		u.add(Effect{Code: "PROJECT_FILES", Detail: u.name, Start: name.Start, End: name.End})
		return
	}
	files, known := u.env.Files.ProjectRuns(u.root().name, dir)
	if !known {
		u.add(Effect{Code: "PROJECT_FILES", Detail: u.name, Start: name.Start, End: name.End})
	}
	for _, file := range files {
		u.add(Effect{Action: Executes, Code: "PROJECT_RUNS", Detail: file, Start: name.Start, End: name.End})
	}
}

// shows is for programs that print settings, and with them the passwords that
// are in addresses.
func shows(u *usage, out WordValue) WordValue {
	if u.env.Files == nil || u.st.dir == "" {
		u.unknownSecret()
		return out
	}
	settings, known := u.env.Files.Shows(u.root().name, u.st.dir)
	if !known {
		u.unknownSecret()
	}
	for _, s := range settings {
		u.add(Effect{Action: ShowsSecret, Code: "SECRET_SETTING", Detail: s})
	}
	return out
}
