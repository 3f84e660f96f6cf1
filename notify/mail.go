package notify

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"mime"
	"mime/quotedprintable"
	"net"
	"net/mail"
	"net/smtp"
	"net/textproto"
	"strings"
	"time"

	"github.com/gatelatch/gatelatch"
)

// email sends plain text by SMTP.
type email struct {
	addr     string // host and port
	security string // starttls, tls, or none
	user     string
	password string
	from     mail.Address
	to       []mail.Address
	reach    Reach
	roots    *tls.Config // nil is the system's
	now      func() time.Time
}

// Send implements Channel.
func (e *email) Send(ctx context.Context, n Notice) error {
	host, _, err := net.SplitHostPort(e.addr)
	if err != nil {
		return permanent(err)
	}
	conn, err := dialer(e.reach.check).DialContext(ctx, "tcp", e.addr)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	if until, ok := ctx.Deadline(); ok {
		_ = conn.SetDeadline(until)
	}
	return answered(e.talk(conn, host, n))
}

func (e *email) talk(conn net.Conn, host string, n Notice) error {
	cfg := &tls.Config{ServerName: host, MinVersion: tls.VersionTLS12}
	if e.roots != nil {
		cfg.RootCAs = e.roots.RootCAs
	}
	if e.security == "tls" {
		conn = tls.Client(conn, cfg)
	}
	c, err := smtp.NewClient(conn, host)
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }()
	if e.security == "starttls" {
		if ok, _ := c.Extension("STARTTLS"); !ok {
			return permanent(errors.New("the mail server has no STARTTLS; nothing was sent in the clear"))
		}
		if err := c.StartTLS(cfg); err != nil {
			return err
		}
	}
	if e.user != "" {
		if err := c.Auth(smtp.PlainAuth("", e.user, e.password, host)); err != nil {
			return err
		}
	}
	if err := c.Mail(e.from.Address); err != nil {
		return err
	}
	for _, to := range e.to {
		if err := c.Rcpt(to.Address); err != nil {
			return err
		}
	}
	w, err := c.Data()
	if err != nil {
		return err
	}
	if _, err := w.Write(e.letter(n)); err != nil {
		return err
	}
	if err := w.Close(); err != nil { // only now has the server taken it
		return err
	}
	_ = c.Quit() // it has it, whatever it says to this
	return nil
}

// answered tells refusals for good from others.
func answered(err error) error {
	var said *textproto.Error
	if errors.As(err, &said) && said.Code/100 == 5 {
		return permanent(err)
	}
	return err
}

// letter is the mail. Its id follows from the message's, so that a mail that was
// sent twice is one, and all about a call are one thread.
func (e *email) letter(n Notice) []byte {
	_, domain, _ := strings.Cut(e.from.Address, "@")
	name := func(s string) string { return "<" + s + "@" + domain + ">" }
	var to []string
	for _, a := range e.to {
		to = append(to, a.String())
	}
	var b bytes.Buffer
	head := func(key, value string) { fmt.Fprintf(&b, "%s: %s\r\n", key, value) }
	head("From", e.from.String())
	head("To", strings.Join(to, ",\r\n "))
	// A name of an agent's must not be decoded into what was escaped.
	head("Subject", mime.QEncoding.Encode("utf-8", strings.ReplaceAll(n.Title, "=?", "= ?")))
	head("Date", e.now().Format(time.RFC1123Z))
	head("Message-ID", name(n.ID))
	if n.Thread != n.ID {
		head("In-Reply-To", name(n.Thread))
		head("References", name(n.Thread))
	}
	head("Auto-Submitted", "auto-generated")
	if n.Risk == High && n.Kind != gatelatch.SettledMessage {
		head("Importance", "high")
	}
	head("MIME-Version", "1.0")
	head("Content-Type", "text/plain; charset=utf-8")
	head("Content-Transfer-Encoding", "quoted-printable")
	b.WriteString("\r\n")
	text := n.Text + "\n"
	if n.Input != "" {
		text += "\n" + n.Input + "\n"
	}
	if n.Call != "" {
		text += "\nDecide on the page, after a login:\n" + n.Link + "\n"
	}
	w := quotedprintable.NewWriter(&b)
	_, _ = w.Write([]byte(strings.ReplaceAll(text, "\n", "\r\n"))) // into memory
	_ = w.Close()
	return b.Bytes()
}
