package policy

import (
	"bytes"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// A runner is a file of a project that can make a program run code, even if it
// is only asked to look.
type runner struct {
	name string         // may hold a *
	here bool           // only where the program runs, not in the folders above
	when *regexp.Regexp // what in it does so; nil: that it is there
}

// setsOneOf matches lines that set one of some names. A name that is written with
// escapes could be any.
func setsOneOf(names string) *regexp.Regexp {
	return regexp.MustCompile(`(?mi)^[^#;\n]*(?:(?:^|[\s."'{,\[])(` + names + `)["'\]]*\s*(?:[:=.\]]|$)|\\[uxU])`)
}

var (
	npmSettings  = setsOneOf(`script-shell|shell|git|viewer|browser|editor|node-options|onload-script|init-module|pnpmfile|global-pnpmfile|tokenHelper|npm-path|registry[ \t]*=.*\$\{.*`)
	rustupDirs   = []runner{{name: "rust-toolchain.toml", when: setsOneOf(`path`)}, {name: "rust-toolchain", when: regexp.MustCompile(`path|[/\\]`)}}
	cargoRunners = setsOneOf(`rustc|rustc-wrapper|rustc-workspace-wrapper|rustdoc|credential-provider|global-credential-providers|env|include`)
)

// runners by program. Only what is run by looking counts: cargo tree starts the
// compiler that .cargo/config.toml names, but never a linker.
var runners = map[string][]runner{
	"npm": {{name: ".npmrc", when: npmSettings}},
	"pnpm": {
		{name: ".npmrc", when: npmSettings}, {name: ".pnpmfile.cjs"}, {name: ".pnpmfile.mjs"}, {name: ".pnpmfile.js"}, {name: "pnpmfile.js"},
		{name: "pnpm-workspace.yaml", when: setsOneOf(`pnpmfile|globalPnpmfile|configDependencies|scriptShell|nodeOptions`)},
	},
	"yarn": {
		{name: ".yarnrc.yml", when: setsOneOf(`yarnPath|plugins`)}, {name: ".yarnrc", when: regexp.MustCompile(`(?i)yarn-path|script-shell|use-yarnrc`)},
		{name: ".npmrc", when: npmSettings},
	},
	"cargo":     append([]runner{{name: ".cargo/config.toml", when: cargoRunners}, {name: ".cargo/config", when: cargoRunners}}, rustupDirs...),
	"rustup":    rustupDirs,
	"terraform": {{name: ".terraform/providers", here: true}, {name: ".terraform/plugins", here: true}, {name: "terraform.d/plugins", here: true}},
	"packer":    {{name: "packer-*-*", here: true}, {name: ".packer.d/plugins", here: true}},
}

// ProjectRuns implements shell.Files.
func (r repositories) ProjectRuns(program, dir string) (files []string, known bool) {
	list, here := runners[program], true
	for at := range r.upwards(dir) {
		if at == "" || list == nil {
			return nil, false
		}
		for _, run := range list {
			if run.here && !here || at == r.home && strings.HasPrefix(run.name, ".") {
				continue // a person's own configuration is the person's choice
			}
			found, ok := run.in(at)
			if !ok {
				return nil, false
			}
			files = append(files, found...)
		}
		here = false
	}
	return files, true
}

// in returns the files of a folder that run something.
func (run runner) in(dir string) (files []string, ok bool) {
	names, ok := run.names(dir)
	for _, name := range names {
		file := filepath.Join(dir, filepath.FromSlash(name))
		info, err := os.Stat(file)
		switch {
		case missingFile(err):
			continue
		case err != nil || run.when != nil && (!info.Mode().IsRegular() || info.Size() > maxConfig):
			return nil, false
		case run.when == nil:
			files = append(files, name)
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, false
		}
		if hit := run.when.FindSubmatch(text); hit != nil {
			files = append(files, strings.TrimSuffix(name+": "+string(bytes.Join(hit[1:], nil)), ": "))
		}
	}
	return files, ok
}

// names returns the name, or what it matches in the folder.
func (run runner) names(dir string) (names []string, ok bool) {
	if !strings.Contains(run.name, "*") {
		return []string{run.name}, true
	}
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		if ok, _ := path.Match(run.name, e.Name()); ok {
			names = append(names, e.Name())
		}
	}
	return names, err == nil || missingFile(err)
}

// credentials are settings that are one, or an address with one in it.
var credentials = regexp.MustCompile(`(?mi)^[^#;\n]*(?:://[^/\s"'@]*:[^/\s"'@]+@|://[^/\s"'@:]{20,}@|authorization:|(?:token|password|passwd|secret|smtppass)["']?[ \t]*[=:][ \t]*[^\s]{4,})`)

// Shows implements shell.Files. It looks at a person's own settings, too: they
// are printed with the others.
func (r repositories) Shows(program, dir string) (found []string, known bool) {
	var files []string
	switch program {
	case "git":
		configs, _, ok := r.find(dir)
		if !ok {
			return nil, false
		}
		files = slices.Concat(configs, []string{r.at(".gitconfig"), r.at(".config/git/config")})
	case "pip":
		files = []string{r.at(".config/pip/pip.conf"), r.at(".pip/pip.conf"), "/etc/pip.conf", filepath.Join(dir, ".venv/pip.conf"), filepath.Join(dir, "venv/pip.conf")}
	default:
		return nil, false
	}
	for _, path := range files {
		if path == "" {
			continue
		}
		info, err := os.Stat(path)
		switch {
		case missingFile(err):
			continue
		case err != nil || !info.Mode().IsRegular() || info.Size() > maxConfig:
			return nil, false
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, false
		}
		if credentials.Match(text) {
			found = append(found, path)
		}
	}
	return found, true
}

// at is a path in the home directory, "" if that is not known.
func (r repositories) at(name string) string {
	if r.home == "" {
		return ""
	}
	return filepath.Join(r.home, filepath.FromSlash(name))
}
