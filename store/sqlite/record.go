package sqlite

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// A statement is one that changed something, as the redo log keeps it. Its
// arguments are those that bind passes on.
type statement struct {
	text string
	args []any
	// maybe says that it may turn out to change nothing. Any other that
	// does so is a sign of damage when it is done again, or late.
	maybe bool
	rows  int // that it must change, if more than one
}

var errDisagree = errors.New("the database is damaged: its tables are not what they were when a change was accepted")

// check holds how many rows it changed against that.
func (st statement) check(n int64) error {
	if n < int64(max(1, st.rows)) && !st.maybe {
		return errDisagree
	}
	return nil
}

// size is about what it takes in a record.
func (st statement) size() (n int) {
	for _, a := range st.args {
		switch a := a.(type) {
		case string:
			n += len(a)
		case []byte:
			n += len(a)
		}
	}
	return n + len(st.text) + 8*len(st.args)
}

// What an argument is.
const (
	isNull = iota
	isInt
	isText
	isBlob
	isTrue
	isFalse
)

// encode appends what statements did. Each text stands there once: whichever
// gatelatch reads it after a crash needs no list of them.
func encode(to []byte, all []statement) ([]byte, error) {
	known := map[string]uint64{}
	to = binary.AppendUvarint(to, uint64(len(all)))
	for _, st := range all {
		n, is := known[st.text]
		if !is {
			n = uint64(len(known))
			known[st.text] = n
		}
		to = binary.AppendUvarint(to, n)
		if !is {
			to = appendBytes(to, st.text)
		}
		to = appendBool(to, st.maybe)
		to = binary.AppendUvarint(to, uint64(len(st.args)))
		for _, a := range st.args {
			switch a := a.(type) {
			case nil:
				to = append(to, isNull)
			case int64:
				to = binary.AppendVarint(append(to, isInt), a)
			case string:
				to = appendBytes(append(to, isText), a)
			case []byte:
				if a == nil {
					to = append(to, isNull)
				} else {
					to = appendBytes(append(to, isBlob), a)
				}
			case bool:
				to = appendBool(to, a)
			default:
				return nil, fmt.Errorf("an argument is a %T, which no record can hold", a)
			}
		}
	}
	return to, nil
}

func appendBool(to []byte, b bool) []byte {
	if b {
		return append(to, isTrue)
	}
	return append(to, isFalse)
}

func appendBytes[T string | []byte](to []byte, b T) []byte {
	return append(binary.AppendUvarint(to, uint64(len(b))), b...)
}

var errRecord = errors.New("the database is damaged: a record of the redo log makes no sense")

// decode reads what encode wrote.
func decode(raw []byte) (all []statement, err error) {
	d := &decoder{raw: raw}
	var known []string
	for n := d.number(); n > 0 && !d.bad; n-- {
		var st statement
		switch i := d.number(); {
		case i < uint64(len(known)):
			st.text = known[i]
		case i == uint64(len(known)):
			st.text = string(d.bytes())
			known = append(known, st.text)
		default:
			d.bad = true
		}
		st.maybe, _ = d.arg().(bool)
		for m := d.number(); m > 0 && !d.bad; m-- {
			st.args = append(st.args, d.arg())
		}
		all = append(all, st)
	}
	if d.bad || len(d.raw) > 0 {
		return nil, errRecord
	}
	return all, nil
}

type decoder struct {
	raw []byte
	bad bool
}

func (d *decoder) number() uint64 {
	n, size := binary.Uvarint(d.raw)
	if size <= 0 {
		d.bad = true
		return 0
	}
	d.raw = d.raw[size:]
	return n
}

func (d *decoder) bytes() []byte {
	n := d.number()
	if n > uint64(len(d.raw)) {
		d.bad = true
		return nil
	}
	b := d.raw[:n:n]
	d.raw = d.raw[n:]
	return b
}

func (d *decoder) arg() any {
	if len(d.raw) == 0 {
		d.bad = true
		return nil
	}
	kind := d.raw[0]
	d.raw = d.raw[1:]
	switch kind {
	case isNull:
	case isInt:
		n, size := binary.Varint(d.raw)
		if size <= 0 {
			d.bad = true
			return nil
		}
		d.raw = d.raw[size:]
		return n
	case isText:
		return string(d.bytes())
	case isBlob:
		return d.bytes()
	case isTrue, isFalse:
		return kind == isTrue
	default:
		d.bad = true
	}
	return nil
}
