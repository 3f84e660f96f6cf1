package audit

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/gatelatch/gatelatch"
)

// An export has one event a line, in one form only: JSON with the names and
// the order of gatelatch.Event. Whatever this code would not write itself is
// refused, so that every byte of an export counts.

// AppendLine appends e as a line of an export, with its line break. It fails
// on an event that no gateway writes.
func AppendLine(dst []byte, e gatelatch.Event) ([]byte, error) {
	if err := writable(e); err != nil {
		return dst, fmt.Errorf("event %d was changed: %w", e.Seq, err)
	}
	return append(appendEvent(dst, e), '\n'), nil
}

func writable(e gatelatch.Event) error {
	for _, s := range []string{string(e.Kind), string(e.By.Kind), e.By.ID, e.By.Name, e.Batch, e.Call} {
		if !utf8.ValidString(s) {
			return errors.New("it has text that is not UTF-8")
		}
	}
	switch at := e.At.UTC(); {
	case at.Year() < 0 || at.Year() > 9999 || !at.Equal(at.Truncate(time.Microsecond)):
		return errors.New("it has a time that no clock gives")
	case len(e.Body) > 0 && (!json.Valid(e.Body) || bytes.IndexByte(e.Body, '\n') >= 0):
		return errors.New("its body is not JSON in one line")
	}
	return nil
}

func appendEvent(dst []byte, e gatelatch.Event) []byte {
	dst = append(dst, `{"seq":`...)
	dst = strconv.AppendInt(dst, int64(e.Seq), 10)
	dst = append(dst, `,"at":"`...)
	dst = e.At.UTC().AppendFormat(dst, time.RFC3339Nano)
	dst = append(dst, '"')
	dst = appendText(dst, `,"kind":`, string(e.Kind))
	dst = appendText(dst, `,"by":{"kind":`, string(e.By.Kind))
	dst = appendOptional(dst, `,"id":`, e.By.ID)
	dst = appendOptional(dst, `,"name":`, e.By.Name)
	dst = append(dst, '}')
	dst = appendOptional(dst, `,"batch":`, e.Batch)
	dst = appendOptional(dst, `,"call":`, e.Call)
	if len(e.Body) > 0 {
		dst = append(append(dst, `,"body":`...), e.Body...)
	}
	dst = hex.AppendEncode(append(dst, prevName...), e.Prev[:])
	dst = hex.AppendEncode(append(dst, linkName...), e.Link[:])
	return append(dst, lineEnd...)
}

func appendOptional(dst []byte, name, s string) []byte {
	if s == "" {
		return dst
	}
	return appendText(dst, name, s)
}

func appendText(dst []byte, name, s string) []byte {
	dst = append(dst, name...)
	for i := range len(s) {
		if !plain(s[i]) {
			raw, _ := json.Marshal(s) //nolint:errchkjson // a string
			return append(dst, raw...)
		}
	}
	return append(append(append(dst, '"'), s...), '"')
}

// plain characters stand for themselves in JSON, however it is written.
func plain(c byte) bool {
	return c >= ' ' && c < 0x7F && c != '"' && c != '\\' && c != '<' && c != '>' && c != '&'
}

// The end of a line has one length, so that a body needs no parsing.
const (
	prevName = `,"prev":"`
	linkName = `","link":"`
	lineEnd  = `"}`
	tailSize = len(prevName) + len(linkName) + len(lineEnd) + 2*hexSize
	hexSize  = 2 * len(gatelatch.Sum{})
)

var errForm = errors.New("this is not a line of an export")

// A decoder reads lines; it keeps what is often the same from line to line.
type decoder struct {
	again []byte
	last  gatelatch.Event
}

// event reads one line without its line break. The event's body is a part of
// the line.
func (d *decoder) event(line []byte) (gatelatch.Event, error) {
	p := parser{rest: line}
	e := p.event(&d.last)
	if p.bad || writable(e) != nil {
		return e, errForm
	}
	if d.again = appendEvent(d.again[:0], e); !bytes.Equal(d.again, line) {
		return e, errForm
	}
	d.last = e
	return e, nil
}

// parser is lenient: the comparison with what we would write is not.
type parser struct {
	rest []byte
	bad  bool
}

func (p *parser) event(last *gatelatch.Event) (e gatelatch.Event) {
	if len(p.rest) < tailSize {
		p.bad = true
		return e
	}
	tail := parser{rest: p.rest[len(p.rest)-tailSize:]}
	p.rest = p.rest[:len(p.rest)-tailSize]
	p.skip(`{"seq":`)
	e.Seq = p.number()
	p.skip(`,"at":`)
	e.At = p.time()
	e.Kind = gatelatch.EventKind(p.text(`,"kind":`, string(last.Kind)))
	e.By.Kind = gatelatch.ActorKind(p.text(`,"by":{"kind":`, string(last.By.Kind)))
	e.By.ID = p.text(`,"id":`, last.By.ID)
	e.By.Name = p.text(`,"name":`, last.By.Name)
	p.skip(`}`)
	e.Batch = p.text(`,"batch":`, last.Batch)
	e.Call = p.text(`,"call":`, last.Call)
	if p.skip(`,"body":`) {
		e.Body = p.rest
	}
	tail.sum(prevName, &e.Prev)
	tail.sum(linkName, &e.Link)
	p.bad = p.bad || tail.bad
	return e
}

func (p *parser) skip(s string) bool {
	if !bytes.HasPrefix(p.rest, []byte(s)) {
		return false
	}
	p.rest = p.rest[len(s):]
	return true
}

func (p *parser) number() gatelatch.Seq {
	n := 0
	for n < len(p.rest) && (p.rest[n] >= '0' && p.rest[n] <= '9' || p.rest[n] == '-') {
		n++
	}
	v, err := strconv.ParseInt(string(p.rest[:n]), 10, 64)
	p.bad = p.bad || err != nil
	p.rest = p.rest[n:]
	return gatelatch.Seq(v)
}

func (p *parser) time() time.Time {
	t, err := time.Parse(time.RFC3339Nano, string(p.quoted()))
	p.bad = p.bad || err != nil
	return t.UTC()
}

// quoted returns what stands before the next quote, without any escapes.
func (p *parser) quoted() []byte {
	if !p.skip(`"`) {
		return nil
	}
	s, rest, _ := bytes.Cut(p.rest, []byte{'"'})
	p.rest = rest
	return s
}

// text returns the string behind name, "" if name is not next.
func (p *parser) text(name, last string) string {
	if !p.skip(name) || len(p.rest) == 0 {
		return ""
	}
	n := 1
	for n < len(p.rest) && plain(p.rest[n]) {
		n++
	}
	if n < len(p.rest) && p.rest[n] == '"' {
		s := p.rest[1:n]
		p.rest = p.rest[n+1:]
		if string(s) == last {
			return last
		}
		return string(s)
	}
	return p.escaped()
}

func (p *parser) escaped() (s string) {
	dec := json.NewDecoder(bytes.NewReader(p.rest))
	if err := dec.Decode(&s); err != nil {
		p.bad = true
		return ""
	}
	p.rest = p.rest[dec.InputOffset():]
	return s
}

func (p *parser) sum(name string, into *gatelatch.Sum) {
	p.bad = p.bad || !p.skip(name) || into.UnmarshalText(p.rest[:hexSize]) != nil
	if !p.bad {
		p.rest = p.rest[hexSize:]
	}
}
