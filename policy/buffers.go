package policy

import (
	"sync"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/shell"
)

// buffers are what a judgement needs only while it lasts. They are used again:
// nothing that is handed out may point into them.
type buffers struct {
	ids             []int32
	hits            []hit
	reasons, allows []gatelatch.Reason
	files           []fileUse
	effects         []shell.Effect

	// a file that a command uses, as a call
	file Facts
	call gatelatch.Call
	path pathUse
}

// A fileUse is a path, and the tool for files that would do to it what a command
// does.
type fileUse struct{ tool, path string }

var kept = sync.Pool{New: func() any { return new(buffers) }}

// buffers returns those of the judgement that is under way.
func (f *Facts) buffers() *buffers {
	if f.buf == nil {
		f.buf, _ = kept.Get().(*buffers)
	}
	return f.buf
}

// giveBack ends the use of buffers.
func (f *Facts) giveBack() {
	b := f.buf
	f.buf = nil
	clear(b.reasons)
	clear(b.allows)
	clear(b.files)
	clear(b.hits)
	clear(b.effects)
	b.ids, b.hits, b.reasons, b.allows = b.ids[:0], b.hits[:0], b.reasons[:0], b.allows[:0]
	b.files, b.effects = b.files[:0], b.effects[:0]
	if b.file.call != nil {
		b.file, b.call, b.path = Facts{}, gatelatch.Call{}, pathUse{}
	}
	kept.Put(b)
}
