package notify

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"mime"
	"mime/quotedprintable"
	"net"
	"net/http/httptest"
	"net/mail"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/emersion/go-sasl"
	"github.com/emersion/go-smtp"
	"github.com/gatelatch/gatelatch"
)

// sink is a mail server that keeps what it gets.
type sink struct {
	mu     sync.Mutex
	refuse *smtp.SMTPError
	user   string
	secure bool
	to     []string
	mails  [][]byte
}

func (s *sink) NewSession(c *smtp.Conn) (smtp.Session, error) {
	_, s.secure = c.TLSConnectionState()
	return &sinkSession{s}, nil
}

type sinkSession struct{ *sink }

func (s *sinkSession) Reset()                               {}
func (s *sinkSession) Logout() error                        { return nil }
func (s *sinkSession) AuthMechanisms() []string             { return []string{sasl.Plain} }
func (s *sinkSession) Mail(string, *smtp.MailOptions) error { return nil }
func (s *sinkSession) Rcpt(to string, _ *smtp.RcptOptions) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.to = append(s.to, to)
	if s.refuse != nil {
		return s.refuse
	}
	return nil
}

func (s *sinkSession) Auth(string) (sasl.Server, error) {
	return sasl.NewPlainServer(func(_, user, password string) error {
		if user != "gate" || password != "hunter2" {
			return smtp.ErrAuthFailed
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		s.user = user
		return nil
	}), nil
}

func (s *sinkSession) Data(r io.Reader) error {
	raw, err := io.ReadAll(r)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mails = append(s.mails, raw)
	return err
}

// mailServer runs a sink with TLS as security says, and a channel to it.
func mailServer(t *testing.T, security string) (*sink, *email) {
	t.Helper()
	cert := httptest.NewUnstartedServer(nil)
	cert.StartTLS()
	t.Cleanup(cert.Close)
	s := &sink{}
	srv := smtp.NewServer(s)
	srv.Domain, srv.ReadTimeout, srv.WriteTimeout = "sink.example", 10*time.Second, 10*time.Second
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	switch security {
	case "starttls":
		srv.TLSConfig = cert.TLS
	case "tls":
		ln = tls.NewListener(ln, cert.TLS)
	}
	done := make(chan error, 1)
	go func() { done <- srv.Serve(ln) }()
	t.Cleanup(func() { _ = srv.Close(); <-done })
	cfg := ChannelConfig{Type: "email", Server: ln.Addr().String(), Security: security, From: "Gatelatch <gate@example.org>", To: []string{"Mira <mira@example.org>", "ops@example.org"}}
	if security != "none" {
		cfg.User, cfg.Password = "gate", "hunter2"
	}
	e, ok := channel(t, cfg, here).Channel.(*email)
	if !ok {
		t.Fatal("no mail channel")
	}
	pool := x509.NewCertPool()
	pool.AddCert(cert.Certificate())
	e.roots = &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}
	return s, e
}

func TestMailArrives(t *testing.T) {
	for _, security := range []string{"starttls", "tls", "none"} {
		t.Run(security, func(t *testing.T) {
			s, e := mailServer(t, security)
			n := sample()
			n.Kind, n.Risk = gatelatch.ReminderMessage, High
			if err := e.Send(t.Context(), n); err != nil {
				t.Fatal(err)
			}
			if s.secure != (security != "none") || (s.user == "gate") != (security != "none") || strings.Join(s.to, " ") != "mira@example.org ops@example.org" {
				t.Errorf("the server saw %+v", s)
			}
			m, err := mail.ReadMessage(bytes.NewReader(s.mails[0]))
			if err != nil {
				t.Fatal(err)
			}
			subject, err := new(mime.WordDecoder).DecodeHeader(m.Header.Get("Subject"))
			if err != nil || subject != n.Title {
				t.Errorf("subject %q, %v", subject, err)
			}
			for key, want := range map[string]string{
				"Message-Id": "<msg_2@example.org>", "References": "<msg_1@example.org>", "Auto-Submitted": "auto-generated", "Importance": "high",
				"From": `"Gatelatch" <gate@example.org>`, "Content-Type": "text/plain; charset=utf-8",
			} {
				if got := m.Header.Get(key); got != want {
					t.Errorf("%s: %q, want %q", key, got, want)
				}
			}
			if _, err := m.Header.Date(); err != nil {
				t.Error(err)
			}
			if to, err := m.Header.AddressList("To"); err != nil || len(to) != 2 {
				t.Errorf("to %v, %v", to, err)
			}
			text, err := io.ReadAll(quotedprintable.NewReader(m.Body))
			if err != nil || !strings.Contains(string(text), "Tool 'Write' requires approval\r\n") || !strings.Contains(string(text), n.Link) {
				t.Errorf("text %q, %v", text, err)
			}
		})
	}
}

func TestMailErrors(t *testing.T) {
	s, e := mailServer(t, "starttls")
	var never *PermanentError
	s.refuse = &smtp.SMTPError{Code: 451, EnhancedCode: smtp.EnhancedCode{4, 7, 1}, Message: "greylisted"}
	if err := e.Send(t.Context(), sample()); err == nil || errors.As(err, &never) {
		t.Errorf("greylisted: %v", err)
	}
	s.refuse = &smtp.SMTPError{Code: 550, EnhancedCode: smtp.EnhancedCode{5, 1, 1}, Message: "no such user"}
	if err := e.Send(t.Context(), sample()); !errors.As(err, &never) {
		t.Errorf("no such user: %v", err)
	}
	s.refuse = nil
	e.password = "wrong"
	if err := e.Send(t.Context(), sample()); err == nil {
		t.Error("a wrong password goes through")
	}
	e.password, e.roots = "hunter2", nil
	if err := e.Send(t.Context(), sample()); err == nil || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("a certificate of nobody: %v", err)
	}
	plain, e := mailServer(t, "none")
	e.security, e.user, e.password = "starttls", "gate", "hunter2"
	if err := e.Send(t.Context(), sample()); !errors.As(err, &never) || plain.user != "" {
		t.Errorf("without STARTTLS: %v, user %q", err, plain.user)
	}
	if len(s.mails)+len(plain.mails) > 0 {
		t.Error("a mail went out")
	}
}

// What an agent names can't be a word that mail programs decode, into signs that
// were escaped everywhere else.
func TestSubjectsAreNotDecodedTwice(t *testing.T) {
	s, e := mailServer(t, "none")
	n := sample()
	n.Title = "Approval Needed: =?utf-8?q?=E2=80=AEx=0D=0ABcc:_a?="
	if err := e.Send(t.Context(), n); err != nil {
		t.Fatal(err)
	}
	m, err := mail.ReadMessage(bytes.NewReader(s.mails[0]))
	if err != nil {
		t.Fatal(err)
	}
	subject, err := new(mime.WordDecoder).DecodeHeader(m.Header.Get("Subject"))
	if err != nil || strings.ContainsAny(subject, "\u202e\r\n") || !strings.Contains(subject, "utf-8") {
		t.Errorf("subject %q, %v", subject, err)
	}
}
