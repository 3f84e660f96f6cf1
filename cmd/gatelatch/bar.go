package main

import (
	"fmt"
	"io"
	"strings"
	"time"
)

// A bar says on a terminal how far something long is; elsewhere it is silent.
type bar struct {
	w     io.Writer
	verb  string
	total int // 0 is not known
	next  time.Time
	shown bool
}

func newBar(w io.Writer, verb string, total int) *bar {
	b := &bar{verb: verb, total: total, next: time.Now().Add(300 * time.Millisecond)}
	if newProgress(w, 0).w != nil {
		b.w = w
	}
	return b
}

func (b *bar) at(n int) {
	if b.w == nil || time.Now().Before(b.next) {
		return
	}
	b.next, b.shown = time.Now().Add(100*time.Millisecond), true
	fmt.Fprint(b.w, "\r"+b.line(n))
}

func (b *bar) line(n int) string {
	if b.total == 0 {
		return fmt.Sprintf("%d calls %s", n, b.verb)
	}
	const width = 30
	full := min(width, n*width/b.total)
	return fmt.Sprintf("[%s%s] %3d%%  %d of %d calls %s", strings.Repeat("#", full), strings.Repeat(".", width-full), min(100, n*100/b.total), n, b.total, b.verb)
}

func (b *bar) end() {
	if b.shown {
		fmt.Fprint(b.w, "\r\x1b[K")
	}
}
