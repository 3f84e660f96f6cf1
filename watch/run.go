package watch

import (
	"context"
	"os"
	"sync"
	"time"

	"github.com/gatelatch/gatelatch/api"
)

// Options say how the inbox runs.
type Options struct {
	Gateway Gateway
	In, Out *os.File
	Color   bool
	Bell    bool // ring when a call comes
	// Edit lets the person replace the input of a call. The terminal is as it
	// was before while it runs.
	Edit func(ctx context.Context, c api.Call) (api.Call, error)
}

const (
	// tick is how often ages, the arming and the size of the screen are looked
	// at; a signal for the size is not known everywhere.
	tick = 200 * time.Millisecond
	// escapeTime is how long the rest of a key may take that begins with escape.
	escapeTime = 100 * time.Millisecond
)

// Run shows the inbox until the person quits, or ctx ends.
func Run(ctx context.Context, opt Options) (err error) {
	s := &screen{in: opt.In, out: opt.Out, color: opt.Color}
	if err := s.enter(); err != nil {
		return err
	}
	defer s.leave()
	var work sync.WaitGroup
	defer work.Wait()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	l := &loop{
		opt: opt, screen: s, model: NewModel(), feed: newFeed(opt.Gateway),
		decided: make(chan decided), bytes: make(chan []byte), more: make(chan struct{}, 1),
	}
	work.Go(func() { l.feed.follow(ctx) })
	work.Go(func() { l.feed.read(ctx) })
	go l.listen() // ends with the process: nothing ends a read from a terminal
	return l.run(ctx)
}

// loop joins the model to the terminal and the gateway. Everything that changes
// the model happens in it, one thing at a time.
type loop struct {
	opt     Options
	screen  *screen
	model   *Model
	feed    *feed
	keys    Keys
	decided chan decided
	bytes   chan []byte
	more    chan struct{} // lets the next read begin
	wishes  []string      // calls to look at
	quit    bool
}

type decided struct {
	sent Decide
	call api.Call
	err  error
}

// listen reads from the terminal, but only when it may: what is typed while an
// editor runs is the editor's.
func (l *loop) listen() {
	for range l.more {
		b := make([]byte, 4096)
		n, err := l.opt.In.Read(b)
		if err != nil {
			close(l.bytes)
			return
		}
		l.bytes <- b[:n]
	}
}

func (l *loop) run(ctx context.Context) error {
	ticker, status := time.NewTicker(tick), time.NewTicker(statusEvery)
	defer ticker.Stop()
	defer status.Stop()
	l.more <- struct{}{}
	var escaped <-chan time.Time
	for !l.quit {
		if err := l.draw(); err != nil {
			return err
		}
		var wish string
		var wanted chan string
		if len(l.wishes) > 0 {
			wish, wanted = l.wishes[0], l.feed.wanted
		}
		select {
		case <-ctx.Done():
			return nil
		case wanted <- wish:
			l.wishes = l.wishes[1:]
		case news := <-l.feed.news:
			if end, ok := news.(ended); ok {
				return end.err
			}
			l.take(news)
		case d := <-l.decided:
			l.do(ctx, l.model.Decided(d.sent, d.call, d.err, time.Now()))
		case b, ok := <-l.bytes:
			if !ok {
				return nil // the terminal is gone
			}
			l.press(ctx, l.keys.Feed(b))
			escaped = nil
			if l.keys.Open() {
				escaped = time.After(escapeTime)
			}
			l.more <- struct{}{}
		case <-escaped:
			escaped = nil
			l.press(ctx, l.keys.Flush())
		case <-status.C:
			go l.feed.ask(ctx)
		case <-ticker.C:
		}
	}
	return nil
}

func (l *loop) draw() error {
	now := time.Now()
	w, h := l.screen.size()
	l.model.Resize(w, h, now)
	if l.model.Rang() && l.opt.Bell {
		_, _ = l.opt.Out.WriteString("\a")
	}
	return l.screen.draw(l.model.View(now))
}

func (l *loop) take(news any) {
	now := time.Now()
	var wants []Want
	switch n := news.(type) {
	case loaded:
		wants = l.model.Load(n.calls, now)
	case changed:
		wants = l.model.Put(n.call, now)
	case gone:
		wants = l.model.Drop(n.id, now)
	case connected:
		l.model.Connected(n.live, now)
		if n.live {
			l.model.Status(n.status)
		}
	}
	l.wish(wants)
}

func (l *loop) press(ctx context.Context, events []any) {
	for _, e := range events {
		switch e := e.(type) {
		case Pasted:
			l.model.Paste(e)
		case Key:
			if e == KeyRedraw {
				l.screen.drawn = nil
			}
			l.do(ctx, l.model.Press(e, time.Now()))
		}
	}
}

func (l *loop) do(ctx context.Context, wants []Want) {
	for _, w := range wants {
		switch w := w.(type) {
		case Quit:
			l.quit = true
		case Decide:
			go func() {
				call, err := l.opt.Gateway.Decide(ctx, w.Call.ID, w.Decision)
				select {
				case l.decided <- decided{w, call, err}:
				case <-ctx.Done():
				}
			}()
		case Edit:
			l.edit(ctx, w.Call)
		}
	}
	l.wish(wants)
}

func (l *loop) wish(wants []Want) {
	for _, w := range wants {
		if look, ok := w.(Look); ok {
			l.wishes = append(l.wishes, look.ID)
		}
	}
}

// edit gives the terminal away until the editor ends.
func (l *loop) edit(ctx context.Context, before api.Call) {
	l.screen.leave()
	call, err := l.opt.Edit(ctx, before)
	if e := l.screen.enter(); e != nil {
		l.quit = true
		return
	}
	l.do(ctx, l.model.Edited(before, call, err, time.Now()))
}
