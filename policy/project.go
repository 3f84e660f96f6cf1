package policy

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// ProjectFile is the file of rules in a project's own folder. Whoever writes
// there can only tighten.
const (
	ProjectFile = projectDir + "/policy.yaml"
	projectDir  = ".gatelatch"
)

// Limits of what projects may take up.
const (
	maxProjects        = 64 // kept
	maxProjectFile     = 64 << 10
	maxProjectRules    = 500
	maxProjectExamples = 100
	maxProjectPatterns = 20
	maxProjectPattern  = 200 // bytes
)

// projects keeps the sets of the projects that were last used.
type projects struct {
	base *Set // the rules that hold everywhere
	kept map[string]*project
	used int
}

type project struct {
	source source
	base   *Set // that set was made of
	set    *Set
	used   int
}

// set returns the rules in force for sessions of a project.
func (ps *projects) set(root string) *Set {
	if !filepath.IsAbs(root) || filepath.Clean(root) == filepath.Dir(root) {
		return ps.base
	}
	p := ps.get(filepath.Clean(root))
	if changed := p.source.refresh(); changed || p.base != ps.base {
		p.base, p.set = ps.base, p.over(ps.base)
	}
	return p.set
}

func (ps *projects) get(root string) *project {
	ps.used++
	p := ps.kept[root]
	if p == nil {
		p = &project{source: source{name: ProjectFile, tier: layerProject}}
		p.source.stat = func() (stamp, error) { return lookIn(root) }
		p.source.read = func() ([]byte, stamp, error) { return readIn(root) }
		_ = p.source.reload() // the error is kept in problem
		ps.keep(root, p)
	}
	p.used = ps.used
	return p
}

// keep makes room by forgetting the project that was not used for longest.
func (ps *projects) keep(root string, p *project) {
	if ps.kept == nil {
		ps.kept = map[string]*project{}
	}
	if len(ps.kept) >= maxProjects {
		oldest := ""
		for other, q := range ps.kept {
			if oldest == "" || q.used < ps.kept[oldest].used {
				oldest = other
			}
		}
		delete(ps.kept, oldest)
	}
	ps.kept[root] = p
}

// over returns base and on top of it what the project says. A file that is
// gone says nothing any more; one that is broken leaves nothing allowed.
func (p *project) over(base *Set) *Set {
	if p.source.missing {
		p.source.layer, p.source.good, p.source.problem = nil, true, ""
	}
	l, problem := p.source.layer, p.source.problem
	if l == nil && problem == "" {
		return base
	}
	with := *base
	with.layers = with.layers[:len(with.layers):len(with.layers)]
	if l != nil {
		with.layers = append(with.layers, l)
	}
	with.doubt = problem
	return with.sum()
}

// lookIn and readIn stay inside the project: no link leads out of it.
func lookIn(root string) (stamp, error) {
	if _, err := os.Lstat(filepath.Join(root, projectDir)); errors.Is(err, fs.ErrNotExist) {
		return stamp{}, fs.ErrNotExist // as nearly always, and nobody need go in
	}
	if info, err := os.Stat(root); err == nil && !info.IsDir() {
		return stamp{}, fs.ErrNotExist
	}
	dir, err := os.OpenRoot(root)
	if err != nil {
		return stamp{}, err
	}
	defer func() { _ = dir.Close() }()
	info, err := dir.Lstat(ProjectFile)
	if err != nil {
		return stamp{}, err
	}
	return stampOf(info), nil
}

func readIn(root string) ([]byte, stamp, error) {
	st, err := lookIn(root)
	switch {
	case err != nil:
		return nil, st, fmt.Errorf("%s: can't be read: %w", ProjectFile, err)
	case !st.mode.IsRegular():
		return nil, st, fmt.Errorf("%s: is not a regular file", ProjectFile)
	}
	dir, err := os.OpenRoot(root)
	if err != nil {
		return nil, st, err
	}
	defer func() { _ = dir.Close() }()
	f, err := dir.OpenFile(ProjectFile, openPlain, 0)
	if err != nil {
		return nil, st, fmt.Errorf("%s: can't be opened", ProjectFile)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return nil, st, fmt.Errorf("%s: is not a regular file", ProjectFile)
	}
	data, err := readLimited(f, ProjectFile, maxProjectFile)
	return data, stampOf(info), err
}
