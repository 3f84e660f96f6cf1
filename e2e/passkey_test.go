package e2e

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/webauthn"
	"github.com/chromedp/chromedp"
)

// plugIn gives the tab an authenticator whose person always touches it.
func (b *tab) plugIn() {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	if _, err := chromedp.Call(ctx, webauthn.Enable, webauthn.EnableParams{}); err != nil {
		b.t.Fatal(err)
	}
	_, err := chromedp.Call(ctx, webauthn.AddVirtualAuthenticator, webauthn.AddVirtualAuthenticatorParams{Options: &webauthn.VirtualAuthenticatorOptions{
		Protocol: webauthn.AuthenticatorProtocolCtap2, Transport: webauthn.AuthenticatorTransportUsb, AutomaticPresenceSimulation: true,
	}})
	if err != nil {
		b.t.Fatal(err)
	}
}

// cookies are what the browser sends along to a page, as somebody would who stole them.
func (b *tab) cookies(url string) string {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	got, err := chromedp.Call(ctx, network.GetCookies, network.GetCookiesParams{URLs: []string{url}})
	if err != nil || len(got.Cookies) == 0 {
		b.t.Fatalf("no cookies: %v", err)
	}
	var out []string
	for _, c := range got.Cookies {
		out = append(out, c.Name+"="+c.Value)
	}
	return strings.Join(out, "; ")
}

// SEC-15: a passkey is enrolled and signs an allow, which the trail shows; a
// stolen session, both halves of it, allows nothing.
func TestAllowsAreSigned(t *testing.T) {
	t.Parallel()
	g := newGateway(t)
	open := tempDir(t)
	if err := os.Chmod(open, 0o711); err != nil {
		t.Fatal(err)
	}
	config := fmt.Sprintf("signing: all\nagent_users: ['61234']\nagent_socket: %s/agent.sock\n", open)
	if err := os.WriteFile(filepath.Join(g.config, "config.yaml"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	g.start()
	link := g.loginURL()
	if !strings.HasPrefix(link, "http://localhost:") {
		t.Fatalf("passkeys need a name, and the link is %s", link)
	}
	in := inbox{newTab(t)}
	in.plugIn()
	in.login(link)
	in.do("add a passkey", chromedp.Click(chromedp.CSS(`[popovertarget="me"]`), chromedp.NodeVisible),
		chromedp.Click(chromedp.CSS(`[data-act="passkey-add"]`), chromedp.NodeVisible), chromedp.WaitVisible(chromedp.CSS(`[data-passkeys="1"]`)))
	in.do("see the level", chromedp.WaitVisible(chromedp.CSS(`[data-isolation="signed"]`)), chromedp.Click(chromedp.CSS(`[popovertarget="me"]`)))

	s := newStub(t, g)
	allowed := s.propose("touch x")
	in.waitCard("touch x").allow()
	allowed.wantDecision("allow")
	if out := g.cli("audit", "verify"); !strings.Contains(out, "signatures   1 of passkeys, all good") {
		t.Errorf("the trail: %s", out)
	}

	waits := s.propose("touch y")
	stolen := in.catchDecision(in.waitCard("touch y"))
	if status := stolen.send(t, in.cookies(link)); status != http.StatusForbidden {
		t.Errorf("a stolen session got status %d", status)
	}
	if waits.answered() || len(g.waiting()) != 1 {
		t.Error("a stolen session decided")
	}
}
