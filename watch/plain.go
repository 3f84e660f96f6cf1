package watch

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gatelatch/gatelatch/api"
	"github.com/gatelatch/gatelatch/internal/strictjson"
)

// PlainOptions say how Plain runs.
type PlainOptions struct {
	Gateway Gateway
	Out     io.Writer
	JSON    bool      // a line of JSON for each call that comes or changes
	In      io.Reader // decisions are typed here; nil is that nobody types
	Width   int
}

// Plain writes calls as they come, and what becomes of them, until ctx ends.
// Typed lines decide: "a 3", "d 3", "d 3 not today".
func Plain(ctx context.Context, opt PlainOptions) error {
	var work sync.WaitGroup
	defer work.Wait()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	p := &plain{opt: opt, numbers: map[string]int{}, told: map[string]told{}}
	f := newFeed(opt.Gateway)
	work.Go(func() { f.follow(ctx) })
	work.Go(func() { f.read(ctx) })
	lines := make(chan string)
	if opt.In != nil {
		go listenLines(opt.In, lines)
	}
	for {
		var wish string
		var wanted chan string
		if len(p.wishes) > 0 {
			wish, wanted = p.wishes[0], f.wanted
		}
		select {
		case <-ctx.Done():
			return nil
		case wanted <- wish:
			p.wishes = p.wishes[1:]
		case line := <-lines:
			p.typed(ctx, line)
		case news := <-f.news:
			if end, ok := news.(ended); ok {
				return end.err
			}
			if err := p.take(news); err != nil {
				return err
			}
		}
	}
}

func listenLines(in io.Reader, lines chan<- string) {
	sc := bufio.NewScanner(in)
	for sc.Scan() {
		lines <- sc.Text()
	}
}

type plain struct {
	opt     PlainOptions
	wishes  []string
	ids     []string // by number, from 1
	numbers map[string]int
	told    map[string]told
	lost    bool
}

// told is a call as it was written, and when.
type told struct {
	call api.Call
	at   time.Time
}

func (p *plain) say(format string, args ...any) {
	if !p.opt.JSON {
		var b strings.Builder
		atoms(fmt.Sprintf(format, args...), func(atom string) { b.WriteString(atom) })
		fmt.Fprintln(p.opt.Out, b.String())
	}
}

func (p *plain) take(news any) error {
	switch n := news.(type) {
	case loaded:
		for _, c := range n.calls {
			p.wishes = append(p.wishes, c.ID)
		}
		if len(n.calls) == 0 {
			p.say("Nothing waits.")
		}
	case changed:
		return p.call(n.call)
	case connected:
		if n.live == p.lost {
			p.lost = !n.live
			p.say("%s", map[bool]string{true: "Connected again.", false: "No connection; trying again."}[n.live])
		}
	}
	return nil
}

// call tells a call that is new or not as it was told.
func (p *plain) call(c api.Call) error {
	before, known := p.told[c.ID]
	if known && before.call.State == c.State && before.call.Digest == c.Digest || !known && c.State != pending {
		return nil
	}
	p.told[c.ID] = told{c, time.Now()}
	if p.opt.JSON {
		line, err := strictjson.Marshal(c)
		if err == nil {
			_, err = p.opt.Out.Write(append(line, '\n'))
		}
		return err
	}
	if !known {
		p.ids = append(p.ids, c.ID)
		p.numbers[c.ID] = len(p.ids)
	}
	n := p.numbers[c.ID]
	if c.State != pending {
		p.say("[%d] %s: %s", n, outcome(c), c.Card.Says)
		return nil
	}
	if known {
		p.say("[%d] changed; this is what would run now:", n)
	}
	p.say("[%d] %s  %s", n, c.ID, whose(c.Session))
	for _, l := range layCard(c, p.opt.Width-4).lines {
		p.say("    %s", l)
	}
	if p.opt.In != nil {
		p.say("    a %d allows it once, d %d denies it, d %d TEXT says why", n, n, n)
	}
	return nil
}

// typed decides by a line: a letter, the number of a call, perhaps a text.
func (p *plain) typed(ctx context.Context, line string) {
	verb, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
	number, note, _ := strings.Cut(strings.TrimSpace(rest), " ")
	if verb == "" {
		return
	}
	n, err := strconv.Atoi(number)
	if err != nil || n < 1 || n > len(p.ids) || verb != "a" && verb != "d" || verb == "a" && note != "" {
		p.say("Type a or d and the number of a call: a 1, d 1, d 1 not today.")
		return
	}
	t := p.told[p.ids[n-1]]
	d := api.Decision{State: map[string]string{"a": allowed, "d": denied}[verb], Digest: t.call.Digest, Note: note}
	grave, isGrave := dangerOf(t.call)
	switch {
	case t.call.State == pending && time.Since(t.at) < armTime:
		p.say("[%d] has just changed: read it first.", n)
		return
	case verb == "a" && t.call.Kind != "permission":
		p.say("[%d] needs more than a letter: gatelatch allow %s --help", n, t.call.ID)
		return
	case verb == "a" && isGrave:
		p.say("[%d] %s If you mean it: gatelatch allow %s", n, grave.why, t.call.ID)
		return
	}
	// Its event tells how it went, if it does not fail.
	if _, err := p.opt.Gateway.Decide(ctx, t.call.ID, d); err != nil {
		p.say("[%d] %s", n, whyNot(err))
	}
}
