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
	every := in.is("replace_all")
	return changes(path, every, []Block{inFile(in.files.at(path), path, before, after, every)}), true
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
	say, where := Say{Key: "changes", What: fileName(path)}, ""
	for _, b := range blocks {
		say.Added, say.Removed = say.Added+b.Added, say.Removed+b.Removed
	}
	if every {
		say.Key, where = "changes.every", " at every match"
	}
	return Card{
		Icon: iconFile, Says: fmt.Sprintf("Changes %s%s, +%d −%d", say.What, where, say.Added, say.Removed), Say: say,
		Subject: OneLine(path), Blocks: blocks,
	}
}

func write(_ *gatelatch.Call, in *input) (Card, bool) {
	path, ok := in.text("file_path")
	content, has := in.text("content")
	if !ok || !has {
		return Card{}, false
	}
	say := Say{Key: "writes", What: fileName(path), Count: strings.Count(content, "\n")}
	size := "empty"
	if content != "" {
		if !strings.HasSuffix(content, "\n") {
			say.Count++
		}
		size = count(say.Count, "line")
	}
	return Card{
		Icon: iconFile, Says: "Writes " + say.What + ", " + size, Say: say,
		Subject: OneLine(path), Blocks: []Block{overFile(in.files.at(path), path, content)},
	}, true
}

func notebook(_ *gatelatch.Call, in *input) (Card, bool) {
	path, ok := in.text("notebook_path")
	if !ok {
		return Card{}, false
	}
	verb, key := "Changes a cell of ", "cell.change"
	switch string(in.raw("edit_mode")) {
	case `"insert"`:
		verb, key = "Adds a cell to ", "cell.add"
	case `"delete"`:
		verb, key = "Deletes a cell of ", "cell.delete"
	}
	b := textBlock("Path", path)
	if source, has := in.text("new_source"); has {
		b = textBlock(OneLine(path), source)
		if key == "cell.change" {
			b = overCell(in.files.at(path), path, string(in.raw("cell_id")), source)
		}
	}
	return Card{
		Icon: iconFile, Says: verb + fileName(path), Say: Say{Key: key, What: fileName(path)}, Subject: OneLine(path), Blocks: []Block{b},
	}, true
}

func read(_ *gatelatch.Call, in *input) (Card, bool) {
	path, ok := in.text("file_path")
	return Card{
		Icon: iconEye, Says: "Reads " + fileName(path), Say: Say{Key: "reads", What: fileName(path)}, Subject: OneLine(path), Blocks: []Block{textBlock("Path", path)},
	}, ok
}
