package main

import (
	"errors"
	"fmt"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
)

const (
	pageMany  = 5000
	manyLoads = 10
	// A turn of the wheel, in pixels, and how many at most: the list is 300,000 high.
	turnBy, mostTurns = 900, 1000
)

// many opens the page while thousands of calls wait, then scrolls through all of them.
func (p *openedPage) many(r *rig) error {
	if err := inParallel(clients, pageMany/10, p.batch); err != nil {
		return err
	}
	s, err := p.load(manyLoads, pageMany)
	if err != nil {
		return err
	}
	s.print("from the load to a card on the screen, 5,000 pending")
	r.most("the same, p50", ms(s.p50()), 300, "ms")
	return p.scroll(r)
}

// batch proposes ten different calls at once: what is the same would be one row.
func (p *openedPage) batch(i int) error {
	q := proposal(fmt.Sprintf("/home/dev/page-%d", i%20), 1_000_000+10*i)
	q.Session.ID = fmt.Sprintf("many-%d", i%20)
	for k := 1; k < 10; k++ {
		q.Calls = append(q.Calls, proposal(q.Session.Project, 1_000_000+10*i+k).Calls...)
	}
	_, err := p.agent.Propose(p.ctx, q)
	return err
}

// scroll turns the wheel over the list until its end and looks at the longest frame.
func (p *openedPage) scroll(r *rig) error {
	// Noting when each row is painted is for events: it asks for a frame of its own each time.
	if _, err := evaluate[bool](p, `(() => {
		watching.disconnect();
		window.list = document.querySelector(".list-scroll");
		window.frames = []; let last;
		const frame = now => { if (last !== undefined) frames.push(now - last); last = now; requestAnimationFrame(frame); };
		requestAnimationFrame(frame);
		return true;
	})()`); err != nil {
		return err
	}
	turn := chromedp.MouseEvent(input.DispatchMouseEventTypeMouseWheel, 200, 400, func(p *input.DispatchMouseEventParams) { p.DeltaX, p.DeltaY = 0.01, turnBy })
	for end, turns := false, 0; !end; turns++ {
		if turns == mostTurns {
			return errors.New("the list has no end")
		}
		if err := chromedp.Do(p.ctx, turn); err != nil {
			return err
		}
		var err error
		if end, err = evaluate[bool](p, `list.scrollTop + list.clientHeight >= list.scrollHeight - 1`); err != nil {
			return err
		}
	}
	got, err := evaluate[struct{ Longest, Count, At, Rows, Last float64 }](p, `new Promise(done => requestAnimationFrame(() => {
		const rows = [...document.querySelectorAll(".row")], edge = list.getBoundingClientRect();
		done({Longest: Math.max(...frames), Count: frames.length, At: list.scrollTop, Rows: rows.length, Last: edge.bottom - rows.at(-1).getBoundingClientRect().bottom});
	}))`)
	if err != nil {
		return err
	}
	if got.At < pageMany*50 || got.Count < got.At/turnBy || got.Last < 0 || got.Last > 100 {
		return fmt.Errorf("the list of %d scrolled to %.0f in %.0f frames, its last row %.0f above the edge", pageMany, got.At, got.Count, got.Last)
	}
	note("scrolled through, in frames", got.Count, "")
	note("rows drawn of 5,000", got.Rows, "")
	r.most("longest frame while 5,000 pending scroll", got.Longest, 50, "ms")
	return nil
}
