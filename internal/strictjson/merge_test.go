package strictjson

import "testing"

func TestMerge(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ input, change, want string }{
		"nothing":             {`{"a": 1}`, `{}`, `{"a":1}`},
		"a field":             {`{"a":1.50,"b":{"x":1,"y":2},"c":"\u0041<"}`, `{"b":{"x":3}}`, `{"a":1.50,"b":{"x":3},"c":"\u0041<"}`},
		"a new field":         {`{"a":1}`, `{"z": [ 1 ]}`, `{"a":1,"z":[1]}`},
		"an escaped name":     {`{"\u0061":1}`, `{"a":2}`, `{"\u0061":2}`},
		"to nothing":          {`{}`, `{"a":null}`, `{"a":null}`},
		"another case":        {`{"command":"ls"}`, `{"Command":"rm x"}`, ""},
		"no object":           {`{"a":1}`, `[1]`, ""},
		"null":                {`{"a":1}`, `null`, ""},
		"an input of no kind": {`[1]`, `{"a":1}`, ""},
	} {
		got, err := Merge([]byte(tt.input), []byte(tt.change))
		if string(got) != tt.want || (err == nil) != (tt.want != "") {
			t.Errorf("%s: got %s, %v", name, got, err)
		}
	}
}
