package render

import (
	"fmt"
	"strings"

	"github.com/gatelatch/gatelatch"
)

func edit(_ *gatelatch.Call, in *input) (Card, bool) {
	path, ok := in.text("file_path")
	before, hasBefore := in.text("old_string")
	after, hasAfter := in.text("new_string")
	if !ok || !hasBefore || !hasAfter {
		return Card{}, false
	}
	b := diffBlock(OneLine(path), before, after)
	return changes(path, in.is("replace_all"), []Block{b}), true
}

func multiEdit(_ *gatelatch.Call, in *input) (Card, bool) {
	path, ok := in.text("file_path")
	var edits []struct {
		Old *string `json:"old_string"`
		New *string `json:"new_string"`
		All bool    `json:"replace_all"`
	}
	if !ok || !in.list("edits", &edits) || len(edits) == 0 {
		return Card{}, false
	}
	var blocks []Block
	every := false
	for i, e := range edits {
		if e.Old == nil || e.New == nil {
			return Card{}, false
		}
		title := fmt.Sprintf("%s, edit %d of %d", OneLine(path), i+1, len(edits))
		if e.All {
			every, title = true, title+", every match"
		}
		blocks = append(blocks, diffBlock(title, *e.Old, *e.New))
	}
	return changes(path, every, blocks), true
}

// changes is the card of one or more replacements in a file.
func changes(path string, every bool, blocks []Block) Card {
	added, removed, where := 0, 0, ""
	for _, b := range blocks {
		added, removed = added+b.Added, removed+b.Removed
	}
	if every {
		where = " at every match"
	}
	return Card{
		Icon: iconFile, Says: fmt.Sprintf("Changes %s%s, +%d −%d", fileName(path), where, added, removed),
		Subject: OneLine(path), Blocks: blocks,
	}
}

func write(_ *gatelatch.Call, in *input) (Card, bool) {
	path, ok := in.text("file_path")
	content, has := in.text("content")
	if !ok || !has {
		return Card{}, false
	}
	size := count(strings.Count(content, "\n"), "line")
	switch {
	case content == "":
		size = "empty"
	case !strings.HasSuffix(content, "\n"):
		size = count(strings.Count(content, "\n")+1, "line")
	}
	return Card{
		Icon: iconFile, Says: "Writes " + fileName(path) + ", " + size,
		Subject: OneLine(path), Blocks: []Block{textBlock(OneLine(path), content)},
	}, true
}

func notebook(_ *gatelatch.Call, in *input) (Card, bool) {
	path, ok := in.text("notebook_path")
	if !ok {
		return Card{}, false
	}
	verb := "Changes a cell of "
	switch string(in.raw("edit_mode")) {
	case `"insert"`:
		verb = "Adds a cell to "
	case `"delete"`:
		verb = "Deletes a cell of "
	}
	b := textBlock("Path", path)
	if source, has := in.text("new_source"); has {
		b = textBlock(OneLine(path), source)
	}
	return Card{Icon: iconFile, Says: verb + fileName(path), Subject: OneLine(path), Blocks: []Block{b}}, true
}

func read(_ *gatelatch.Call, in *input) (Card, bool) {
	path, ok := in.text("file_path")
	return Card{
		Icon: iconEye, Says: "Reads " + fileName(path), Subject: OneLine(path), Blocks: []Block{textBlock("Path", path)},
	}, ok
}
