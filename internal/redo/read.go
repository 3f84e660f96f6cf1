package redo

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"slices"
)

// Read calls fn with each record behind kept, in order. A record that was cut
// off ends the log. Without files there are none.
func Read(path string, id ID, kept Seq, fn func(Seq, []byte)) error {
	var runs [2][]record
	for i, name := range Names(path) {
		raw, err := os.ReadFile(name)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
		runs[i] = run(raw, id)
	}
	if len(runs[0]) > 0 && len(runs[1]) > 0 && runs[0][0].seq > runs[1][0].seq {
		runs[0], runs[1] = runs[1], runs[0]
	}
	for _, r := range slices.Concat(runs[:]...) {
		switch {
		case r.seq <= kept:
			continue
		case r.seq != kept+1:
			return fmt.Errorf("%w: it ends at %d, the log has %d", ErrGap, kept, r.seq)
		}
		fn(r.seq, r.bytes)
		kept = r.seq
	}
	return nil
}

type record struct {
	seq   Seq
	bytes []byte
}

// run returns the records at the start of a half that follow each other.
func run(raw []byte, id ID) (out []record) {
	mac := id.mac()
	for len(raw) >= header+tagSize {
		n := int64(binary.LittleEndian.Uint32(raw))
		seq := Seq(binary.LittleEndian.Uint64(raw[4:]))
		if n > int64(len(raw)-header-tagSize) || seq == 0 || len(out) > 0 && seq != out[len(out)-1].seq+1 {
			break
		}
		if want := tag(mac, nil, raw[:header+n]); !bytes.Equal(want, raw[header+n:][:tagSize]) {
			break
		}
		out = append(out, record{seq, raw[header:][:n]})
		raw = raw[min(onDisk(n), int64(len(raw))):]
	}
	return out
}

// mac makes tags. Records hold what agents send: none of it must ever pass for
// a record.
func (id ID) mac() cipher.AEAD {
	block, err := aes.NewCipher(id[:])
	if err != nil {
		panic(err) // it has another size
	}
	gcm, err := cipher.NewGCM(block)
	if err != nil {
		panic(err)
	}
	return gcm
}

// tag appends what shows that a record is whole, and of this log.
func tag(mac cipher.AEAD, to, record []byte) []byte {
	var nonce [12]byte
	copy(nonce[:], record[4:header])
	return mac.Seal(to, nonce[:], nil, record)
}
