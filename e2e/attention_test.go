package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/gatelatch/gatelatch"
)

// What an agent may ask of people's attention: identical calls are one card with
// one click, what is too much is denied and says so, and a person lets an agent
// that was muted ask again.
func TestAttentionIsAskedForOnce(t *testing.T) {
	t.Parallel()
	g := newGateway(t)
	// Four asks, then none for a while: the first that is too much mutes the agent.
	quota := "quota: {asks_per_minute: 1, burst: 4, pending: 0, ask_again_after: 1m, mute_after: 1}\n"
	if err := os.WriteFile(filepath.Join(g.config, "config.yaml"), []byte(quota), 0o600); err != nil {
		t.Fatal(err)
	}
	g.start()
	d, person, in := newDrafter(t, g), g.desk(), inbox{newTab(t)}
	same := []*gatelatch.Batch{d.propose("m1", d.bash("deploy staging")), d.propose("m2", d.bash("deploy staging"))}
	other := d.propose("m3", d.bash("deploy production"))

	in.login(g.loginURL()) // after they came: the page has all but one of them as rows
	c := in.waitCard("deploy staging")
	in.awaitTrue("see one row for both", `document.querySelector(".row [data-same]")?.textContent === "×2" && document.querySelectorAll(".row[data-call]").length === 2`)
	c.allow()
	in.awaitTrue("see what is left", `document.querySelectorAll(".row[data-call]").length === 1`)
	for _, b := range same {
		if c := d.now(b, 0); c.State != gatelatch.Allowed || c.Decided == nil || c.Decided.By.Kind != gatelatch.PersonActor {
			t.Errorf("one click left a call %s", c.State)
		}
	}
	if c := d.now(other, 0); c.State != gatelatch.Pending {
		t.Errorf("a call that is not the same is %s", c.State)
	}

	in.waitCard("deploy production").deny("Not on a Friday.")
	person.wantDenied(d.propose("m4", d.bash("deploy production")), "person denied exactly this", "Not on a Friday.")
	d.propose("m5", d.bash("deploy four"))
	person.wantDenied(d.propose("m6", d.bash("deploy five")), "asked a person too often")
	person.wantDenied(d.propose("m7", d.bash("deploy six")), "may not ask for now")

	in.awaitTrue("see who is muted", `document.querySelector(".bar-notice")?.innerText.includes("may not ask for now")`)
	in.wantAccessible("with a muted agent")
	in.do("let it ask again", chromedp.Click(chromedp.CSS(`[data-act="unmute"]`), chromedp.NodeVisible),
		chromedp.WaitNotPresent(chromedp.CSS(`[data-act="unmute"]`)))
	person.wantDenied(d.propose("m8", d.bash("deploy seven")), "asked a person too often") // its quota is as it was
}

// wantDenied looks at a call as people see it.
func (d desk) wantDenied(b *gatelatch.Batch, why ...string) {
	d.t.Helper()
	c, err := d.client.Call(d.t.Context(), b.Calls[0].ID)
	if err != nil || c.State != string(gatelatch.Denied) || len(c.Verdict.Reasons) == 0 {
		d.t.Fatalf("the call is %s: %+v (%v)", c.State, c.Verdict.Reasons, err)
	}
	for _, text := range why {
		if got := c.Verdict.Reasons[0].Message; !strings.Contains(got, text) {
			d.t.Errorf("it is denied because %q", got)
		}
	}
}
