package strictjson

import (
	"bytes"
	"fmt"
	"slices"
)

// Merge puts the fields of change over those of input. What is not changed
// keeps its place and its bytes. A name that differs from a present one only
// in case is an error: it would be a second field that some take for the first.
func Merge(input, change []byte) ([]byte, error) {
	fields, err := Fields(input)
	if err != nil {
		return nil, fmt.Errorf("the input: %w", err)
	}
	changes, err := Fields(change)
	if err != nil {
		return nil, fmt.Errorf("what changes it: %w", err)
	}
	for _, c := range changes {
		i := slices.IndexFunc(fields, func(f Field) bool { return f.Name == c.Name })
		if i < 0 {
			fields = append(fields, c)
		} else {
			fields[i].Value = c.Value
		}
	}
	return Compact(Object(fields))
}

// Object writes an object with these members, in this order. They are not checked.
func Object(fields []Field) []byte {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, f := range fields {
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(f.Raw)
		b.WriteByte(':')
		b.Write(f.Value)
	}
	b.WriteByte('}')
	return b.Bytes()
}
