package strictjson

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

type part struct {
	Size int `json:"size"`
}

type base struct {
	ID   string `json:"id"`
	Name string // no tag: the name is "Name"
}

type message struct {
	base
	Command string            `json:"command"`
	Parts   []part            `json:"parts,omitempty"`
	One     *part             `json:"one"`
	By      map[string]part   `json:"by"`
	Raw     json.RawMessage   `json:"raw"`
	At      time.Time         `json:"at"`
	Any     any               `json:"any"`
	Text    map[string]string `json:"text"`
	Hidden  string            `json:"-"`
}

func TestUnmarshal(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		raw           string
		strict, loose bool // whether it is accepted
	}{
		"known names":                          {`{"id":"x","Name":"y","command":"ls","parts":[{"size":1}],"one":{"size":2}}`, true, true},
		"names of a map are free":              {`{"by":{"A":{"size":1},"b":{"size":2}},"text":{"Command":"x"}}`, true, true},
		"null":                                 {`{"one":null,"parts":null}`, true, true},
		"raw and any are not looked into":      {`{"raw":{"Command":1},"any":{"Size":1},"at":"2026-01-02T03:04:05Z"}`, true, true},
		"an unknown name":                      {`{"command":"ls","other":{"Command":1}}`, false, true},
		"an unknown name below":                {`{"parts":[{"size":1,"x":2}]}`, false, true},
		"another case":                         {`{"Command":"ls"}`, false, false},
		"another case of an untagged field":    {`{"name":"y"}`, false, false},
		"another case of an embedded field":    {`{"ID":"y"}`, false, false},
		"another case in a list":               {`{"parts":[{"size":1},{"Size":1}]}`, false, false},
		"another case behind a pointer":        {`{"one":{"SIZE":1}}`, false, false},
		"another case in a map's value":        {`{"by":{"a":{"sizE":1}}}`, false, false},
		"a look-alike by folding":              {`{"` + "\u017f" + `ize":1,"one":{"` + "\u017f" + `ize":1}}`, false, false},
		"a field that is not for JSON":         {`{"Hidden":"x"}`, false, true},
		"a repeated name":                      {`{"command":"ls","command":"rm x"}`, false, false},
		"a repeated name that nobody asks for": {`{"x":1,"X":2}`, false, false},
		"another kind of value":                {`{"command":7}`, false, false},
		"another kind of message":              {`[1]`, false, false},
		"trailing bytes":                       {`{} 1`, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if err := Unmarshal([]byte(tt.raw), &message{}); (err == nil) != tt.strict {
				t.Errorf("strict: got %v", err)
			}
			if err := UnmarshalLoose([]byte(tt.raw), &message{}); (err == nil) != tt.loose {
				t.Errorf("loose: got %v", err)
			}
		})
	}
}

func TestUnmarshalFills(t *testing.T) {
	t.Parallel()
	var got message
	if err := UnmarshalLoose([]byte(`{"id":"x","command":"ls","by":{"K":{"size":3}},"new":1}`), &got); err != nil {
		t.Fatal(err)
	}
	want := message{base: base{ID: "x"}, Command: "ls", By: map[string]part{"K": {3}}}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(message{})); diff != "" {
		t.Error(diff)
	}
}

func TestUnmarshalSaysWhere(t *testing.T) {
	t.Parallel()
	err := Unmarshal([]byte(`{"parts":[{"size":"big"}]}`), &message{})
	if err == nil || !strings.Contains(err.Error(), "parts.size can't be a string") {
		t.Errorf("got %v", err)
	}
}
