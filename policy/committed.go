package policy

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"slices"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/shell"
)

// maxIndex is more than the list of files of any but the largest repositories.
const maxIndex = 32 << 20

// consultCommitted asks about what Git would show of files that no tool may
// read: git diff names none of them. What only the history holds is out of sight.
func (s *Set) consultCommitted(e *shell.Effect, f *Facts, out *said) {
	denials := s.denials("Read", f)
	if len(denials) == 0 {
		return
	}
	files, known := f.world.disk.tracked(e.Path, e.Code == shell.CommittedAt)
	if f.left -= len(files); !known || f.left < 0 {
		r := *asked("it can't be known which files Git would show, and a rule denies reading some")
		r.Field, r.Part, r.Start, r.End = "command", f.shell.part(e.Start, e.End), e.Start, e.End
		out.add(r)
		return
	}
	for _, name := range files {
		file := f.fileAt("Read", found{name: name})
		for _, r := range denials {
			hits, err := r.match(file, nil)
			if len(hits) == 0 && err == nil || !r.Until.IsZero() && r.ended(s.now()) {
				continue
			}
			why := r.reason(hit{field: "command", part: f.shell.part(e.Start, e.End), start: e.Start, end: e.End})
			why.Effect, why.Message = gatelatch.Ask, "Git may show what is in "+clip(name)+", and a rule denies reading it"
			out.add(why)
			return
		}
	}
}

// denials returns the rules that deny using files with a tool.
func (s *Set) denials(tool string, f *Facts) (out []*rule) {
	in := func(l *layer) {
		for i := range l.rules {
			if r := &l.rules[i]; r.Effect == gatelatch.Deny && r.covers(tool) {
				out = append(out, r)
			}
		}
	}
	for _, l := range s.layers {
		in(l)
		for i := range l.sections {
			if _, possible := f.inSection(&l.sections[i]); possible {
				in(l.sections[i].layer)
			}
		}
	}
	return out
}

// tracked returns the files in the index of the repository that a path is in:
// all, or those at or below it.
func (r repositories) tracked(path string, below bool) (files []string, known bool) {
	for at := range r.upwards(path) {
		if at == "" {
			return nil, false
		}
		configs, found, ok := repositoryIn(at)
		if !found {
			continue
		}
		if !ok {
			return nil, false
		}
		long, plain := configsHold(configs, func(setting, _ string) bool { return setting == "extensions.objectformat" })
		index := filepath.Join(filepath.Dir(configs[0]), "index")
		info, err := os.Stat(index)
		if !plain || len(long) > 0 || err != nil || !info.Mode().IsRegular() || info.Size() > maxIndex {
			return nil, false
		}
		raw, err := os.ReadFile(index)
		if err != nil {
			return nil, false
		}
		names, known := indexNames(raw)
		left := maxResolved
		from, _, err := r.follow(path, &left)
		for _, name := range names {
			name = filepath.ToSlash(at) + "/" + name
			if _, inside := relative(from, name); inside || !below {
				files = append(files, name)
			}
		}
		return files, known && err == nil
	}
	return nil, true // no repository: Git says so and stops
}

// indexNames reads the names out of a Git index, as gitformat-index describes it.
func indexNames(raw []byte) (names []string, ok bool) {
	const head, fixed, extended = 12, 62, 1 << 14
	if len(raw) < head || string(raw[:4]) != "DIRC" {
		return nil, false
	}
	version, count := binary.BigEndian.Uint32(raw[4:]), binary.BigEndian.Uint32(raw[8:])
	if version < 2 || version > 4 {
		return nil, false
	}
	last, at := "", head
	for range count {
		begin := at
		if at += fixed; at > len(raw) {
			return nil, false
		}
		if binary.BigEndian.Uint16(raw[at-2:])&extended != 0 {
			at += 2
		}
		keep := 0
		if version == 4 { // what is cut off the end of the name before
			cut, n := offset(raw[min(at, len(raw)):])
			if at += n; n == 0 || cut > len(last) {
				return nil, false
			}
			keep = len(last) - cut
		}
		end := bytes.IndexByte(raw[min(at, len(raw)):], 0)
		if end < 0 {
			return nil, false
		}
		last = last[:keep] + string(raw[at:at+end])
		if at += end + 1; version < 4 {
			at = begin + (at-1-begin+8)/8*8
		}
		names = append(names, last)
	}
	return names, !partly(raw[min(at, len(raw)):])
}

// offset reads a number as Git packs it, and how long it is.
func offset(raw []byte) (value, n int) {
	for i, c := range raw[:min(4, len(raw))] {
		if i > 0 {
			value++
		}
		if value = value<<7 + int(c&127); c < 128 {
			return value, i + 1
		}
	}
	return 0, 0
}

// partly reports whether the index is only part of the list: the rest is in
// another file, or folders stand for what is in them.
func partly(extensions []byte) bool {
	for len(extensions) >= 8+20 { // a sum stands at the end
		name, size := string(extensions[:4]), int(binary.BigEndian.Uint32(extensions[4:]))
		if slices.Contains([]string{"link", "sdir"}, name) || size > len(extensions)-8 {
			return true
		}
		extensions = extensions[8+size:]
	}
	return false
}
