package e2e

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/ecdh"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	chrome "github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/serviceworker"
	"github.com/chromedp/chromedp"

	"github.com/gatelatch/gatelatch/api"
)

// pushService stands in for a browser maker's: it gets what the gateway sends.
// Chromium's own is out of reach here, so the browser is given this one.
type pushService struct {
	t    *testing.T
	srv  *httptest.Server
	key  *ecdh.PrivateKey
	auth []byte
	got  chan *http.Request
	body chan []byte
}

func newPushService(t *testing.T) *pushService {
	t.Helper()
	key, err := ecdh.P256().GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	p := &pushService{t: t, key: key, auth: make([]byte, 16), got: make(chan *http.Request, 8), body: make(chan []byte, 8)}
	_, _ = rand.Read(p.auth)
	p.srv = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, _ := io.ReadAll(r.Body)
		p.got <- r
		p.body <- raw
		w.WriteHeader(http.StatusCreated)
	}))
	t.Cleanup(p.srv.Close)
	return p
}

// trust is a file with the service's certificate, for SSL_CERT_FILE.
func (p *pushService) trust() string {
	name := filepath.Join(p.t.TempDir(), "push.pem")
	raw := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: p.srv.Certificate().Raw})
	if err := os.WriteFile(name, raw, 0o600); err != nil {
		p.t.Fatal(err)
	}
	return name
}

// install makes the page's subscriptions those of this service.
func (p *pushService) install(in inbox) {
	p.t.Helper()
	sub := map[string]any{"endpoint": p.srv.URL + "/send/1", "keys": map[string]string{
		"p256dh": base64.RawURLEncoding.EncodeToString(p.key.PublicKey().Bytes()), "auth": base64.RawURLEncoding.EncodeToString(p.auth),
	}}
	raw, err := json.Marshal(sub)
	if err != nil {
		p.t.Fatal(err)
	}
	in.do("give the browser a push service", chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: fmt.Sprintf(`{
			const sub = %s; let on = null;
			const made = {endpoint: sub.endpoint, toJSON: () => sub, unsubscribe: async () => { on = null; return true; }};
			PushManager.prototype.getSubscription = async () => on;
			PushManager.prototype.subscribe = async ({userVisibleOnly, applicationServerKey}) => {
				if (!userVisibleOnly || applicationServerKey.length !== 87) throw new Error("bad options");
				return on = made;
			};
		}`, raw)})
		return err
	}))
}

// read decrypts a message as the browser would (RFC 8291).
func (p *pushService) read(body []byte) (out api.Pushed) {
	p.t.Helper()
	from := body[21:86]
	pub, err := ecdh.P256().NewPublicKey(from)
	if err != nil {
		p.t.Fatal(err)
	}
	shared, err := p.key.ECDH(pub)
	if err != nil {
		p.t.Fatal(err)
	}
	derive := func(secret, salt []byte, info string, n int) []byte {
		k, err := hkdf.Key(sha256.New, secret, salt, info, n)
		if err != nil {
			p.t.Fatal(err)
		}
		return k
	}
	ikm := derive(shared, p.auth, "WebPush: info\x00"+string(p.key.PublicKey().Bytes())+string(from), 32)
	block, err := aes.NewCipher(derive(ikm, body[:16], "Content-Encoding: aes128gcm\x00", 16))
	if err != nil {
		p.t.Fatal(err)
	}
	gcm, err := cipher.NewGCM(block)
	if err != nil {
		p.t.Fatal(err)
	}
	plain, err := gcm.Open(nil, derive(ikm, body[:16], "Content-Encoding: nonce\x00", 12), body[86:], nil)
	if err != nil {
		p.t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(strings.TrimSuffix(string(plain), "\x02")), &out); err != nil {
		p.t.Fatal(err)
	}
	return out
}

// A person who turned messages on hears of a call while no page is open. The
// message says nothing of what the agent wrote.
func TestAMessageArrivesWhileThePageIsClosed(t *testing.T) {
	t.Parallel()
	p := newPushService(t)
	g := newGateway(t)
	g.env = []string{"SSL_CERT_FILE=" + p.trust()}
	if err := os.WriteFile(filepath.Join(g.config, "config.yaml"), []byte("notify: {reach: [127.0.0.1/32]}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	g.start()
	in, c := inbox{newTab(t)}, newCrowd(t, g)
	p.install(in)
	in.allowNotifications(g.url)
	in.login(g.loginURL())
	registration := in.registration()
	in.do("open the panel", chromedp.Click(chromedp.CSS(`[data-act="bell"]`), chromedp.NodeVisible), chromedp.WaitVisible(chromedp.CSS(`[data-field="push"]:not(:disabled)`)))
	in.wantAccessible("the panel")
	in.do("turn messages on", chromedp.Click(chromedp.CSS(`[data-field="push"]`)))
	in.awaitTrue("see that they are on", `document.querySelector('[data-field="push"]').checked`)
	in.wantNoComplaints()
	in.do("leave the page", chromedp.Navigate("about:blank"))

	b := c.run("checkout-api", "curl -H 'Authorization: Bearer s3cret' https://example.com")
	var r *http.Request
	select {
	case r = <-p.got:
	case <-time.After(patience):
		t.Fatal("no message came")
	}
	body := <-p.body
	said := p.read(body)
	if want := (api.Pushed{Call: b.Calls[0].ID, Tool: "Bash", Project: "checkout-api", Waiting: 1}); said != want {
		t.Errorf("the message says %+v, want %+v", said, want)
	}
	if !strings.HasPrefix(r.Header.Get("Authorization"), "vapid t=") || r.Header.Get("Content-Encoding") != "aes128gcm" {
		t.Errorf("it came with %v", r.Header)
	}

	raw, err := json.Marshal(said)
	if err != nil {
		t.Fatal(err)
	}
	watcher := inbox{in.sibling()}
	watcher.do("deliver it", chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		if _, err := cdp.Call(ctx, t, serviceworker.Enable, cdp.Empty{}); err != nil {
			return err
		}
		_, err := cdp.Call(ctx, t, serviceworker.DeliverPushMessage, serviceworker.DeliverPushMessageParams{Origin: g.url, RegistrationID: registration, Data: string(raw)})
		return err
	}))
	watcher.do("look", chromedp.Navigate(g.url+"/manifest.webmanifest"))
	until(t, "the notification", func() bool {
		return read[string](watcher.tab, "read the notifications", `navigator.serviceWorker.getRegistration("/").then(r => r.getNotifications()).then(n => n.map(x => x.title + "|" + x.body + "|" + x.data.call).join())`) ==
			"Approval needed: checkout-api|Tool “Bash” waits for your decision.|"+b.Calls[0].ID
	})

	// Who logs out hears nothing more.
	in.do("come back", chromedp.Navigate(g.url+"/"))
	in.waitLive()
	in.do("log out", chromedp.Click(chromedp.CSS(`button.who:not(.bell)`), chromedp.NodeVisible), chromedp.Click(chromedp.CSS(`[data-act="logout"]`), chromedp.NodeVisible))
	in.awaitTrue("be logged out", `document.title.startsWith("Log in")`)
	c.run("checkout-api", "deploy again")
	until(t, "the subscription to end", func() bool {
		raw, err := os.ReadFile(filepath.Join(g.state, "push.json"))
		return err == nil && !strings.Contains(string(raw), p.srv.URL)
	})
	if len(p.got) != 0 {
		t.Error("a browser that logged out was told")
	}
}

func (in inbox) allowNotifications(origin string) {
	in.t.Helper()
	in.do("allow notifications", chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, chrome.SetPermission, chrome.SetPermissionParams{
			Permission: &chrome.PermissionDescriptor{Name: "notifications"}, Setting: chrome.PermissionSettingGranted, Origin: origin,
			BrowserContextID: chromedp.FromContext(in.ctx).BrowserContextID,
		})
		return err
	}))
}

// registration is the id of the page's worker in the browser.
func (in inbox) registration() serviceworker.RegistrationID {
	in.t.Helper()
	read[bool](in.tab, "wait for the worker", `navigator.serviceWorker.ready.then(() => true)`)
	ctx, cancel := context.WithTimeout(in.ctx, patience)
	defer cancel()
	updates := chromedp.Events(ctx, serviceworker.WorkerRegistrationUpdated)
	in.do("ask for workers", chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, serviceworker.Enable, cdp.Empty{})
		return err
	}))
	for u, err := range updates {
		if err != nil {
			in.t.Fatal(err)
		}
		for _, r := range u.Registrations {
			return r.RegistrationID
		}
	}
	in.t.Fatal("there is no worker")
	return ""
}

// A phone gets in by a code that the page or a terminal draws, at the gateway's
// public address only, and once.
func TestAPhoneLogsInByACode(t *testing.T) {
	t.Parallel()
	g := newGateway(t)
	front := newFront(t)
	g.args = []string{"--public-url", front.srv.URL}
	g.start()
	front.to = g.url
	if out := g.cli("open", "--qr"); !strings.Contains(out, "█") || !strings.Contains(out, front.srv.URL+"/login#c=") {
		t.Errorf("the terminal says %s", out)
	}
	in, c := openInbox(t, g), newCrowd(t, g)
	in.do("show the code", chromedp.Click(chromedp.CSS(`[data-act="bell"]`), chromedp.NodeVisible), chromedp.Click(chromedp.CSS(`[data-act="phone"]`), chromedp.NodeVisible),
		chromedp.WaitVisible(chromedp.CSS(`svg.qr`)))
	in.wantAccessible("the code")
	in.wantNoComplaints()

	link := g.publicLink()
	phone := inbox{newTab(t)}
	phone.look(view{width: 390, height: 844, scheme: "light"})
	phone.trust()
	phone.login(link)
	b := c.run("checkout-api", "deploy from afar")
	card := phone.waitCard("deploy from afar")
	phone.wantAccessible("a card on a phone")
	card.allow()
	if got, err := c.person.Call(t.Context(), b.Calls[0].ID); err != nil || got.State != "allowed" {
		t.Errorf("the call is %s (%v)", got.State, err)
	}
	if cookie := front.cookie(); !strings.Contains(cookie, "Secure") || !strings.Contains(cookie, "HttpOnly") {
		t.Errorf("the phone's cookie is %q", cookie)
	}
	again := inbox{newTab(t)}
	again.trust()
	again.do("use the link again", chromedp.Navigate(link))
	again.awaitTrue("be refused", `document.body.innerText.includes("used already")`)
}
