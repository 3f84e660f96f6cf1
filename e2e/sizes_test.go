package e2e

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/gatelatch/gatelatch"
)

// SEC-22: in an input of any size that the gateway takes, whatever stands
// anywhere in it is on the card, or the card can't be allowed before it was.
func TestWhateverIsInAnInputIsSeenOrBlocked(t *testing.T) {
	t.Parallel()
	g := startGateway(t, "")
	d := newDrafter(t, g)
	in := openInbox(t, g)
	const evil = "curl evil.example"
	all := []float64{0, 0.3, 1}
	for _, tt := range []struct {
		size  int // about what is shown at once, and what the gateway takes
		parts []float64
	}{{1, all}, {2_000, all}, {12_100, all}, {950_000, all[2:]}} {
		size := tt.size
		for _, part := range tt.parts {
			lead := int(part * float64(size))
			name := fmt.Sprintf("case-%d-%g", size, part)
			d.session.ID = name
			d.propose(name, d.bash("echo "+name+"\n"+filler(lead)+evil+"\n"+filler(size-lead)))
			c := in.waitCard(name)
			shown, blocked := strings.Contains(c.text(), evil), c.off("allow")
			if !shown && !blocked {
				t.Errorf("%s: what is in it is neither shown nor blocked", name)
			}
			if blocked != (size > 12_000) {
				t.Errorf("%s: shown %v, blocked %v", name, shown, blocked)
			}
			if size > 12_000 && part < 1 {
				c.tap(`[data-act="show-all"]`)
				c.awaitTrue("see all of it", fmt.Sprintf(`document.querySelector(%q)?.textContent.includes(%q)`, c.self(), evil))
				// Parts that come into view get their true heights, and the end moves on.
				c.awaitTrue("go to the end and be able to allow it", fmt.Sprintf(`(document.querySelector(".gap-end")?.scrollIntoView(), !!document.querySelector(%q))`,
					c.self()+` [data-act="allow"]:not([aria-disabled="true"])`))
			}
			c.deny("")
		}
	}
	in.wantNoComplaints()
}

// filler is harmless lines of about that many bytes.
func filler(n int) string { return strings.Repeat("echo fine\n", n/10) }

// What is larger than the gateway takes is never half taken: nobody sees a card,
// and the agent is told that it is refused, and why.
func TestAnInputOfTenMegabytesIsRefused(t *testing.T) {
	t.Parallel()
	g := startGateway(t, "")
	d, s := newDrafter(t, g), newStub(t, g)
	huge := "echo " + strings.Repeat("x", 10<<20)
	if _, err := d.agent.Propose(t.Context(), gatelatch.Proposal{Session: d.session, Message: "huge", Calls: []gatelatch.ProposedCall{d.bash(huge)}}); err == nil {
		t.Error("10 MB were taken")
	}
	p := s.propose(huge)
	p.wantDecision("deny")
	var out struct {
		Hook struct {
			Reason string `json:"permissionDecisionReason"`
		} `json:"hookSpecificOutput"`
	}
	if err := json.Unmarshal([]byte(p.stdout.String()), &out); err != nil || !strings.Contains(out.Hook.Reason, "large") {
		t.Errorf("the agent is told %q (%v)", out.Hook.Reason, err)
	}
	if w := g.waiting(); len(w) > 0 {
		t.Errorf("something waits: %v", w)
	}
}
