package e2e

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/api"
)

const (
	fewClicks  = 300
	manyClicks = 10_000
	// stillFor is how long a card has to be there before a click counts, in
	// milliseconds. The recorder sees a card a little after the page has drawn it.
	stillFor, lateBy = 500, 60
)

// watchClicks notes which card each click hit, and since when it was there. It
// only looks: the page gets every event as it came.
const watchClicks = `(() => {
	window.clicks = [];
	let shown = null, since = 0;
	const look = () => {
		const id = document.querySelector("article.card[data-call]")?.dataset.call ?? null;
		if (id !== shown) { shown = id; since = performance.now(); }
	};
	new MutationObserver(look).observe(document, {subtree: true, childList: true, attributes: true, attributeFilter: ["data-call"]});
	look();
	window.addEventListener("click", e => {
		const act = e.target.closest("[data-act]")?.dataset.act, id = e.target.closest("article.card")?.dataset.call;
		if (e.isTrusted && id && (act === "allow" || act === "deny"))
			clicks.push({Call: id, Act: act, Still: id === shown ? performance.now() - since : 0});
	}, {capture: true});
	return true;
})()`

type hit struct {
	Call, Act string
	Still     float64
}

// SEC-61: somebody clicks all the time where the buttons are, while calls come,
// and are settled by somebody else under the pointer. Whatever was decided is
// what was there, still, for half a second. GATELATCH_SOAK makes it 10,000 clicks.
func TestSoakClicksWhileCardsCome(t *testing.T) {
	t.Parallel()
	n := fewClicks
	if os.Getenv("GATELATCH_SOAK") != "" {
		n = manyClicks
	}
	g := startGateway(t, "")
	c := newCrowd(t, g)
	f := &flood{crowd: c, in: openInbox(t, g), rnd: rand.New(rand.NewPCG(1, 2))}
	read[bool](f.in.tab, "watch the clicks, before there is a card", watchClicks)
	for range 20 {
		f.come()
	}
	f.in.do("see a card", chromedp.WaitVisible(chromedp.CSS("article.card")))
	buttons := read[[][2]float64](f.in.tab, "find the buttons", `["allow", "deny"].map(a => document.querySelector("[data-act=" + a + "]").getBoundingClientRect()).map(r => [r.x + r.width / 2, r.y + r.height / 2])`)
	for i := range n {
		if i%5 == 0 {
			f.come()
		}
		if f.rnd.IntN(60) == 0 {
			f.settleShown()
		}
		if f.rnd.IntN(40) == 0 {
			f.click(200, 150+f.rnd.Float64()*500) // another card, by its row
		}
		at := buttons[f.rnd.IntN(2)]
		f.click(at[0], at[1])
	}
	f.check(n)
}

// flood is calls that come and go while somebody clicks.
type flood struct {
	*crowd
	in   inbox
	rnd  *rand.Rand
	made []string
}

func (f *flood) come() {
	f.t.Helper()
	b := f.run(fmt.Sprintf("project-%d", f.rnd.IntN(4)), fmt.Sprintf("deploy %d", len(f.made)))
	f.made = append(f.made, b.Calls[0].ID)
}

// settleShown lets somebody else decide what is under the pointer.
func (f *flood) settleShown() {
	f.t.Helper()
	id := read[string](f.in.tab, "see what is shown", `document.querySelector("article.card[data-call]")?.dataset.call ?? ""`)
	if id == "" {
		return
	}
	call, err := f.person.Call(f.t.Context(), id)
	if err != nil {
		f.t.Fatal(err)
	}
	if call.State != string(gatelatch.Pending) {
		return
	}
	_, err = f.person.Decide(f.t.Context(), id, api.Decision{State: "denied", Digest: call.Digest})
	if err != nil && !errors.Is(err, gatelatch.ErrSettled) {
		f.t.Fatal(err)
	}
}

func (f *flood) click(x, y float64) {
	f.t.Helper()
	f.in.do("click", chromedp.MouseEvent(input.DispatchMouseEventTypeMouseMoved, x, y), chromedp.MouseClickXY(x, y))
}

// check holds what the store says was decided on the page against what was hit.
func (f *flood) check(n int) {
	f.t.Helper()
	hits := read[[]hit](f.in.tab, "read the clicks", `clicks`)
	good := map[hit]bool{}
	for _, h := range hits {
		if h.Still >= stillFor-lateBy {
			good[hit{Call: h.Call, Act: h.Act}] = true
		}
	}
	me, err := f.person.Status(f.t.Context())
	if err != nil {
		f.t.Fatal(err)
	}
	decided := 0
	for _, id := range f.made {
		call, err := f.person.Call(f.t.Context(), id)
		if err != nil {
			f.t.Fatal(err)
		}
		d := call.Decided
		if d == nil || d.By.ID == me.You.ID {
			continue
		}
		decided++
		act := map[string]string{"allowed": "allow", "denied": "deny"}[call.State]
		if !good[hit{Call: id, Act: act}] {
			f.t.Errorf("%s was %s, but no click hit it after it was still", id, call.State)
		}
	}
	f.t.Logf("%d clicks, %d on a button of a card, %d decisions", n, len(hits), decided)
	if len(hits) < n/2 || decided < n/200 {
		f.t.Error("too little was tested")
	}
}
