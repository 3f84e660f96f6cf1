package e2e

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// shot is a state of the page that is worth a picture.
type shot struct {
	name string
	tab  string
	wait string // CSS of what the state is waiting for
}

var shots = []shot{
	{"rules", "rules", `[data-suggested]`},
	{"history", "history", `tr[data-settled]`},
	{"insight", "insight", `[data-most]`},
}

// Every view in every size and scheme: nothing to scroll sideways, nothing that
// axe or the browser complains about. With GATELATCH_SCREENSHOTS=1 the pictures
// in docs/img are taken anew.
func TestViewsAreAccessible(t *testing.T) {
	t.Parallel()
	g := startGateway(t, "")
	newCrowd(t, g).past()
	in := openInbox(t, g)
	in.do("see the empty inbox", chromedp.WaitVisible(chromedp.CSS(`.calm h1`)))
	in.everyView("the empty inbox", "")
	for _, s := range shots {
		in.tabTo(s.tab)
		in.do("see "+s.name, chromedp.WaitVisible(chromedp.CSS(s.wait)))
		in.everyView(s.name, s.name)
	}
	in.wantNoComplaints()
}

// everyView looks at what is shown in each view; the pictures of it begin with
// that name, if they are wanted.
func (in inbox) everyView(what, picture string) {
	in.t.Helper()
	for _, v := range views {
		in.look(v)
		if v.scheme == "light" {
			in.wantAccessible(what + ", " + v.name)
		} else {
			in.wantContrast(what + ", " + v.name)
		}
		in.wantNarrow(what, v)
		if picture != "" {
			in.picture(v, picture+strings.TrimPrefix(v.picture, "inbox"))
		}
	}
	in.look(views[0])
}

// wantNarrow fails the test if there is something to scroll sideways to.
func (in inbox) wantNarrow(what string, v view) {
	in.t.Helper()
	if wide := read[int](in.tab, "measure", `document.documentElement.scrollWidth`); int64(wide) > v.width {
		in.t.Errorf("%s, %s, is %d wide and has to be scrolled sideways", what, v.name, wide)
	}
}
