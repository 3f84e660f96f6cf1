package e2e

import (
	"os"
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
	for _, v := range views {
		t.Run(v.name, func(t *testing.T) {
			in := inbox{newTab(t)}
			in.look(v)
			in.login(g.loginURL())
			in.do("see the empty inbox", chromedp.WaitVisible(chromedp.CSS(`.calm h1`)))
			in.wantAccessible("the empty inbox")
			for _, s := range shots {
				in.tabTo(s.tab)
				in.do("see "+s.name, chromedp.WaitVisible(chromedp.CSS(s.wait)))
				in.wantAccessible(s.name)
				if wide := read[int](in.tab, "measure", `document.documentElement.scrollWidth`); int64(wide) > v.width {
					t.Errorf("%s is %d wide and has to be scrolled sideways", s.name, wide)
				}
				if os.Getenv("GATELATCH_SCREENSHOTS") == "1" && v.picture != "" {
					in.takePicture(s.name + strings.TrimPrefix(v.picture, "inbox"))
				}
			}
			in.wantNoComplaints()
		})
	}
}
