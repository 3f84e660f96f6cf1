package e2e

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"
)

// inbox is the product's page in a browser that is logged in.
type inbox struct{ *tab }

// openInbox logs in with a fresh link and waits until the page is live.
func openInbox(t *testing.T, g *gateway) inbox {
	t.Helper()
	in := inbox{newTab(t)}
	in.login(g.loginURL())
	return in
}

func (in inbox) login(link string) {
	in.t.Helper()
	in.do("log in", chromedp.Navigate(link))
	in.waitLive()
}

// waitLive returns once the page hears the gateway's events.
func (in inbox) waitLive() {
	in.t.Helper()
	in.do("wait for the page to be live", chromedp.WaitReady(chromedp.CSS(`[data-live="on"]`)))
}

// waitOffline returns once the page has noticed that the gateway is gone.
func (in inbox) waitOffline() {
	in.t.Helper()
	in.awaitTrue("wait for the page to notice", `!document.querySelector('[data-live="on"]')`)
}

// card is a waiting call as a person sees it.
type card struct {
	inbox
	id string
}

// waitCard waits for a call that shows the text, brings it into focus and
// returns it.
func (in inbox) waitCard(text string) card {
	in.t.Helper()
	id := in.awaitTrue("wait for a card with "+text, fmt.Sprintf(
		`[...document.querySelectorAll("[data-call]")].find(e => e.textContent.replace(/\s+/g, " ").includes(%q))?.dataset.call`, text))
	c := card{in, id}
	c.focus()
	return c
}

func (c card) self() string { return fmt.Sprintf(`article.card[data-call="%s"]`, c.id) }

// focus chooses the call in the list, unless it is the one that is shown.
func (c card) focus() {
	c.t.Helper()
	if !read[bool](c.tab, "look for the card", fmt.Sprintf(`!!document.querySelector(%q)?.checkVisibility()`, c.self())) {
		c.do("choose the call", chromedp.Click(chromedp.CSS(fmt.Sprintf(`[data-call="%s"]`, c.id)), chromedp.NodeVisible))
	}
	c.do("see the card", chromedp.WaitVisible(chromedp.CSS(c.self())))
}

// text is all that the card says.
func (c card) text() string {
	c.t.Helper()
	return read[string](c.tab, "read the card", fmt.Sprintf(`document.querySelector(%q).innerText`, c.self()))
}

// press clicks one of the card's buttons once it is armed.
func (c card) press(act string) {
	c.t.Helper()
	button := chromedp.CSS(fmt.Sprintf(`%s [data-act=%q]:not([aria-disabled="true"])`, c.self(), act))
	c.do("press "+act, chromedp.WaitVisible(button), chromedp.Click(button))
}

// allow decides the call and returns once it no longer waits.
func (c card) allow() {
	c.t.Helper()
	c.press("allow")
	c.waitSettled()
}

// deny decides the call, with words for the agent if there are any.
func (c card) deny(words string) {
	c.t.Helper()
	if words == "" {
		c.press("deny")
	} else {
		c.press("deny-say")
		note := chromedp.CSS(`textarea[data-field="note"]`)
		c.do("say why", chromedp.WaitVisible(note), chromedp.SendKeys(note, words))
		c.press("deny-send")
	}
	c.waitSettled()
}

// waitSettled returns once the call has left the list of what waits, whoever
// decided it.
func (c card) waitSettled() {
	c.t.Helper()
	c.do("wait until the call is settled", chromedp.WaitNotPresent(chromedp.CSS(fmt.Sprintf(`[data-call="%s"]`, c.id))))
}

// waitHistory shows the history and waits for the call in it.
func (c card) waitHistory() {
	c.t.Helper()
	c.do("find the call in the history",
		chromedp.Click(chromedp.CSS(`[data-tab="history"]`), chromedp.NodeVisible),
		chromedp.WaitVisible(chromedp.CSS(`[data-tab="history"][aria-current="page"]`)),
		chromedp.WaitVisible(chromedp.CSS(fmt.Sprintf(`[data-settled="%s"]`, c.id))))
}
