package strictjson

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
)

func TestCheck(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		raw  string
		want string // part of the error; "" is none
	}{
		"an object":                     {`{"a":1,"b":[{"a":2}]}`, ""},
		"white space around":            {" \n{\"a\" : 1}\t\r\n", ""},
		"a bare value":                  {`12345678901234567890.10`, ""},
		"a surrogate pair":              {`"\ud83d\ude00"`, ""},
		"same name in two objects":      {`[{"a":1},{"A":1}]`, ""},
		"nothing":                       {``, "no value"},
		"only blanks":                   {"  \n", "no value"},
		"cut off":                       {`{"a":`, "byte 5"},
		"trailing comma":                {`[1,]`, "byte 2"},
		"two values":                    {`{} {}`, "more text"},
		"trailing bytes":                {`{}x`, "byte 2"},
		"a byte order mark":             {"\uFEFF{}", "byte order mark"},
		"invalid UTF-8":                 {"\"a\xff\"", "byte 2"},
		"overlong UTF-8":                {"\"\xc0\xaf\"", "invalid UTF-8"},
		"a lone high surrogate":         {`"\ud800"`, "byte 1"},
		"a lone low surrogate":          {`"\udc00x"`, "byte 1"},
		"a surrogate in UTF-8":          {"\"\xed\xa0\x80\"", "invalid UTF-8"},
		"a lone surrogate in a name":    {`{"\ud800":1}`, "byte 2"},
		"a repeated name":               {`{"a":1,"a":2}`, `"a" repeats`},
		"T2: a name in capitals again":  {`{"command":"ls","COMMAND":"rm x"}`, `"COMMAND" repeats`},
		"T2: below the top":             {`{"a":[{"command":"ls","Command":"rm x"}]}`, `"Command" repeats`},
		"an escaped name again":         {`{"a":1,"\u0061":2}`, `"a" repeats`},
		"the Kelvin sign":               {`{"k":1,"` + "\u212a" + `":2}`, "repeats"},
		"the long s":                    {`{"S":1,"` + "\u017f" + `":2}`, "repeats"},
		"Greek sigmas":                  {`{"Σ":1,"ς":2}`, "repeats"},
		"a comment":                     {`{/**/}`, "byte 1"},
		"NaN":                           {`[NaN]`, "byte 1"},
		"a leading zero":                {`[01]`, "byte 2"},
		"single quotes":                 {`{'a':1}`, "byte 1"},
		"a control character in a text": {"\"a\nb\"", "byte 2"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := Check([]byte(tt.raw))
			switch {
			case tt.want == "" && err != nil:
				t.Errorf("got %v", err)
			case tt.want != "" && err == nil:
				t.Errorf("got no error, want one with %q", tt.want)
			case tt.want != "" && !strings.Contains(err.Error(), tt.want):
				t.Errorf("got %q, want %q in it", err, tt.want)
			}
		})
	}
}

func TestCheckLimits(t *testing.T) {
	t.Parallel()
	deep := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	names := func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, `,{"n%d":{}}`, i)
		}
		return "[" + b.String()[1:] + "]"
	}
	for name, tt := range map[string]struct {
		raw string
		ok  bool
	}{
		"as deep as allowed": {deep(MaxDepth), true},
		"one deeper":         {deep(MaxDepth + 1), false},
		"very deep":          {strings.Repeat(`{"a":`, 100_000), false},
		"all names":          {names(MaxNames), true},
		"one name more":      {names(MaxNames + 1), false},
	} {
		if err := Check([]byte(tt.raw)); (err == nil) != tt.ok {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func TestErrorsNeverEchoLongInput(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("secret", 1000)
	for _, raw := range []string{
		`{"` + long + `":1,"` + long + `":2}`, `{"` + long + `":[` + long, `"\u` + long, long, `{"` + long + `":1}`,
	} {
		var v struct{ A int }
		err := Unmarshal([]byte(raw), &v)
		if err == nil || len(err.Error()) > 300 {
			t.Errorf("got an error of %d bytes: %.80v", len(fmt.Sprint(err)), err)
		}
	}
}

func TestCompactKeepsEveryOtherByte(t *testing.T) {
	t.Parallel()
	raw := " { \"b\" : 1.50e+03 , \"a\" : \"x < \\u0041 \\/ \u2028 y\" ,\n\t\"n\":[ 9007199254740993 , -0 ] }\n"
	got, err := Compact([]byte(raw))
	if err != nil {
		t.Fatal(err)
	}
	want := "{\"b\":1.50e+03,\"a\":\"x < \\u0041 \\/ \u2028 y\",\"n\":[9007199254740993,-0]}"
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Error(diff)
	}
}

func TestFields(t *testing.T) {
	t.Parallel()
	got, err := Fields([]byte(`{"\u0062": 1.0, "a": {"x" : [ ]}}`))
	if err != nil {
		t.Fatal(err)
	}
	want := []Field{{"b", []byte(`"\u0062"`), []byte(`1.0`)}, {"a", []byte(`"a"`), []byte(`{"x" : [ ]}`)}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for _, raw := range []string{`[]`, `null`, `"x"`, `{"a":1,"A":2}`, ``} {
		if _, err := Fields([]byte(raw)); err == nil {
			t.Errorf("%s: got no error", raw)
		}
	}
}

func FuzzCheck(f *testing.F) {
	for _, s := range []string{`{"a":1,"A":2}`, ` [1, 2.50 ] `, "\"\u2028<\"", `"\ud800"`, `{"a":{"b":[true,null]}}`, "\uFEFF1"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		compact, err := Compact(raw)
		if (err == nil) != (Check(raw) == nil) {
			t.Fatalf("Check and Compact disagree: %v", err)
		}
		if err != nil {
			return
		}
		if !json.Valid(raw) || !jsontext.Value(raw).IsValid() {
			t.Fatalf("accepted, but not valid: %q", raw)
		}
		var want bytes.Buffer
		if err := json.Compact(&want, raw); err != nil || !bytes.Equal(want.Bytes(), compact) {
			t.Fatalf("got %q, want %q, %v", compact, want.Bytes(), err)
		}
		if again, err := Compact(compact); err != nil || !bytes.Equal(again, compact) {
			t.Fatalf("compacting %q again gives %q, %v", compact, again, err)
		}
	})
}

// T1: a raw value goes out as it came in.
func TestMarshalKeepsEveryByte(t *testing.T) {
	const raw = `{"command":"a && b <x>","n":1.0,"u":"\u0026"}`
	got, err := Marshal(map[string]json.RawMessage{"input": json.RawMessage(raw)})
	if want := `{"input":` + raw + `}`; err != nil || string(got) != want {
		t.Errorf("got %s, %v; want %s", got, err, want)
	}
}

// What is read quickly is what the decoder reads.
func sameValue(t *testing.T, raw []byte) (read bool) {
	t.Helper()
	got, ok := quick(raw)
	if !ok {
		return false
	}
	want, err := readSlowly(raw)
	if err != nil {
		t.Fatalf("%q was read, but %v", raw, err)
	}
	if diff := cmp.Diff(want, any(got)); diff != "" {
		t.Fatalf("%q: %s", raw, diff)
	}
	return true
}

func readSlowly(raw []byte) (any, error) { return read(raw, reading{build: true}) }

func TestQuickReadsAsTheDecoderDoes(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]bool{
		`{"command":"ls"}`: true, ` { "a" : "b" , "c":"" } `: true, "{\"a\":\n\"b\"}\n": true, `{"a":"b","":"c"}`: true,
		`{}`: false, `{"a":1}`: false, `{"a":"\u0041"}`: false, `{"a":"é"}`: false, `{"a":"b","A":"c"}`: false, `{"a":"b"}x`: false, `{"a":"b",}`: false,
		`["a"]`: false, `{"a":"b"`: false, `{"a"}`: false, `{"a":"b" "c":"d"}`: false, "{\"a\":\"\x00\"}": false, ``: false, `{`: false, `{"a":`: false,
	} {
		if got := sameValue(t, []byte(raw)); got != want {
			t.Errorf("%q: read %v, want %v", raw, got, want)
		}
	}
}

func FuzzQuick(f *testing.F) {
	f.Add([]byte(`{"a":"b", "c" : "d"}`))
	f.Fuzz(func(t *testing.T, raw []byte) { sameValue(t, raw) })
}

// Decode gives what encoding/json does, except that objects keep their order.
func TestDecode(t *testing.T) {
	t.Parallel()
	raw := `{"s":"a\u0041","n":1.50e3,"t":true,"f":false,"z":null,"l":[1,"x",{"k":[]}],"o":{}}`
	got, err := Decode([]byte(raw))
	if err != nil {
		t.Fatal(err)
	}
	want := Members{{"s", "aA"}, {"n", json.Number("1.50e3")}, {"t", true}, {"f", false}, {"z", nil},
		{"l", []any{json.Number("1"), "x", Members{{"k", []any{}}}}}, {"o", Members{}}}
	if diff := cmp.Diff(any(want), got); diff != "" {
		t.Error(diff)
	}
	names := `{"n0":0`
	for i := 1; i < 100; i++ {
		names += fmt.Sprintf(`,"n%d":0`, i)
	}
	if _, err := Decode([]byte(names + `,"N7":0}`)); err == nil || !strings.Contains(err.Error(), "repeats") {
		t.Errorf("of many names one repeats: %v", err)
	}
	if _, err := Decode([]byte(names + `}`)); err != nil {
		t.Error(err)
	}
}
