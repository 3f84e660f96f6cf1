package audit

import (
	"bytes"
	"errors"
	"io"
	"iter"
	"runtime"

	"github.com/gatelatch/gatelatch"
)

const (
	pieceSize = 64 << 10
	maxLine   = 64 << 20 // far more than the largest event has
)

// A piece is some lines of an export. Reading events and hashing them is the
// work; it needs no order, so pieces are done side by side.
type piece struct {
	text   []byte
	events []gatelatch.Event
	links  []gatelatch.Sum // as computed
	err    error           // of the line behind events
	done   chan struct{}
}

// pieces returns the parts of an export in order, decoded.
func pieces(r io.Reader) iter.Seq[*piece] {
	return func(yield func(*piece) bool) {
		var queue []*piece
		var rest []byte
		for more := true; more || len(queue) > 0; {
			for more && len(queue) < 2*runtime.GOMAXPROCS(0) {
				p := &piece{done: make(chan struct{})}
				p.text, rest, p.err = readPiece(r, rest)
				more = p.err == nil
				go p.decode()
				queue = append(queue, p)
			}
			p := queue[0]
			queue = queue[1:]
			if <-p.done; !yield(p) {
				return
			}
		}
	}
}

// readPiece reads whole lines, the first of which begins with rest. At the end
// what is left is a piece, with io.EOF.
func readPiece(r io.Reader, rest []byte) (text, more []byte, err error) {
	text = append(make([]byte, 0, pieceSize+len(rest)), rest...)
	for {
		n, err := io.ReadFull(r, text[len(text):cap(text)])
		text = text[:len(text)+n]
		switch end := bytes.LastIndexByte(text, '\n') + 1; {
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
			return text, nil, io.EOF
		case err != nil:
			return text[:end], nil, err
		case end > 0:
			return text[:end], text[end:], nil
		case len(text) > maxLine:
			return nil, nil, errForm
		}
		text = append(make([]byte, 0, 2*cap(text)), text...)
	}
}

func (p *piece) decode() {
	defer close(p.done)
	if errors.Is(p.err, io.EOF) {
		p.err = nil
	}
	n := bytes.Count(p.text, []byte("\n"))
	p.events, p.links = make([]gatelatch.Event, 0, n), make([]gatelatch.Sum, 0, n)
	var d decoder
	for line := range bytes.Lines(p.text) {
		line, whole := bytes.CutSuffix(line, []byte("\n"))
		if !whole {
			p.err = errors.New("it ends in the middle: the export is not complete")
			return
		}
		e, err := d.event(line)
		if err != nil {
			p.err = err
			return
		}
		p.events, p.links = append(p.events, e), append(p.links, Link(e))
	}
}
