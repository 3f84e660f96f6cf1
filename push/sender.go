package push

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"
)

const (
	maxSubscriptions = 50
	sendTime         = 10 * time.Second
	tries            = 3
)

// ErrSubscription means that a browser's subscription can't be used.
var ErrSubscription = errors.New("the subscription can't be used")

// A Subscription is one browser that wants messages.
type Subscription struct {
	Endpoint string `json:"endpoint"`
	P256dh   string `json:"p256dh"`
	Auth     string `json:"auth"`
	Key      string `json:"key"` // id of the browser's session: it ends with it
}

// Sender keeps the subscriptions in a file that only its owner can read, with
// the key that signs.
type Sender struct {
	path   string
	client *http.Client
	pause  func(context.Context, time.Duration) error

	mu   sync.Mutex
	key  *ecdsa.PrivateKey
	subs []Subscription
}

// stored is the file.
type stored struct {
	Key           []byte         `json:"key"`
	Subscriptions []Subscription `json:"subscriptions"`
}

// Open reads the file, or makes a key. via sends: endpoints are what browsers
// say, so it must refuse addresses that are nobody's push service.
func Open(path string, via http.RoundTripper) (*Sender, error) {
	s := &Sender{path: path, pause: pause, client: &http.Client{
		Transport: via, Timeout: sendTime,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
	raw, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		if s.key, err = newKey(); err == nil {
			err = s.save()
		}
		return s, err
	}
	var f stored
	if err == nil {
		err = json.Unmarshal(raw, &f)
	}
	if err == nil {
		s.key, err = ecdsa.ParseRawPrivateKey(elliptic.P256(), f.Key)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	s.subs = f.Subscriptions
	return s, nil
}

// PublicKey is what browsers subscribe with.
func (s *Sender) PublicKey() string {
	pub, err := s.key.PublicKey.Bytes()
	if err != nil {
		panic(err) // our own key
	}
	return b64.EncodeToString(pub)
}

// Add keeps a subscription, in place of an older one of the same endpoint.
func (s *Sender) Add(sub Subscription) error {
	u, err := url.Parse(sub.Endpoint)
	if err != nil || u.Scheme != "https" || u.Host == "" || u.User != nil {
		return fmt.Errorf("%w: its endpoint is no https address", ErrSubscription)
	}
	if _, _, err := sub.keys(); err != nil {
		return fmt.Errorf("%w: %w", ErrSubscription, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.subs = slices.DeleteFunc(s.subs, func(o Subscription) bool { return o.Endpoint == sub.Endpoint })
	if len(s.subs) >= maxSubscriptions {
		s.subs = s.subs[1:]
	}
	s.subs = append(s.subs, sub)
	return s.save()
}

// Remove ends what which says.
func (s *Sender) Remove(which func(Subscription) bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := len(s.subs)
	if s.subs = slices.DeleteFunc(s.subs, which); len(s.subs) == n {
		return nil
	}
	return s.save()
}

// Subscriptions returns those that are kept.
func (s *Sender) Subscriptions() []Subscription {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.subs)
}

func (s *Sender) save() error {
	raw, err := s.key.Bytes()
	if err != nil {
		return err
	}
	text, err := json.Marshal(stored{Key: raw, Subscriptions: s.subs})
	if err != nil {
		return err
	}
	tmp, err := os.CreateTemp(filepath.Dir(s.path), ".push-*") // 0600
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(tmp.Name()) }()
	if _, err := tmp.Write(text); err != nil {
		return errors.Join(err, tmp.Close())
	}
	if err := errors.Join(tmp.Sync(), tmp.Close()); err != nil {
		return err
	}
	return os.Rename(tmp.Name(), s.path)
}

// Send tells every browser, each at its own pace. One that its service no
// longer knows is forgotten; the others' failures are joined.
func (s *Sender) Send(ctx context.Context, message []byte) error {
	subs := s.Subscriptions()
	errs := make([]error, len(subs))
	var wg sync.WaitGroup
	for i, sub := range subs {
		wg.Go(func() { errs[i] = s.deliver(ctx, sub, message) })
	}
	wg.Wait()
	return errors.Join(errs...)
}

// errGone means that nobody is at the endpoint any more.
var errGone = errors.New("gone")

func (s *Sender) deliver(ctx context.Context, sub Subscription, message []byte) error {
	var err error
	for try := range tries {
		if try > 0 && s.pause(ctx, time.Duration(try*try)*2*time.Second) != nil {
			return err
		}
		if err = s.post(ctx, sub, message); err == nil {
			return nil
		}
		if errors.Is(err, errGone) {
			return s.Remove(func(o Subscription) bool { return o.Endpoint == sub.Endpoint })
		}
	}
	return err
}

func (s *Sender) post(ctx context.Context, sub Subscription, message []byte) error {
	ua, auth, err := sub.keys()
	if err != nil {
		return errGone
	}
	body, err := encrypt(message, ua, auth)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, sub.Endpoint, bytes.NewReader(body))
	if err != nil {
		return err
	}
	who, err := authorization(s.key, req.URL, time.Now())
	if err != nil {
		return err
	}
	req.Header = http.Header{
		"Authorization": {who}, "Content-Encoding": {"aes128gcm"}, "Content-Type": {"application/octet-stream"},
		"Ttl": {"86400"}, "Urgency": {"high"}, "Topic": {"calls"}, // a newer message takes the place of one not delivered yet
	}
	res, err := s.client.Do(req)
	if err != nil {
		return hideEndpoint(err)
	}
	_, _ = io.Copy(io.Discard, io.LimitReader(res.Body, 1<<16))
	_ = res.Body.Close()
	switch {
	case res.StatusCode == http.StatusNotFound || res.StatusCode == http.StatusGone:
		return errGone
	case res.StatusCode/100 != 2:
		return fmt.Errorf("%s answered %s", req.URL.Host, res.Status)
	}
	return nil
}

// hideEndpoint keeps the address out of logs: whoever has it can send.
func hideEndpoint(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		return u.Err
	}
	return err
}

func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
