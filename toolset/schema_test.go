package toolset

import (
	"encoding/json"
	"strings"
	"testing"
)

// O4: one object at the root, whatever came.
func TestSchemaHasNoUnionAtTheRoot(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ in, want string }{
		"nothing":        {``, `{"type":"object","properties":{}}`},
		"an object":      {`{"type": "object", "properties": {"b":{"type":"string"},"a":{}}, "required":["b"], "additionalProperties": false}`, `{"type":"object","properties":{"b":{"type":"string"},"a":{}},"required":["b"],"additionalProperties":false}`},
		"without type":   {`{"properties":{"a":{"minimum":1.50}},"$schema":"x","title":"T"}`, `{"type":"object","$schema":"x","title":"T","properties":{"a":{"minimum":1.50}}}`},
		"object or null": {`{"type":["object","null"],"properties":{}}`, `{"type":"object","properties":{}}`},
		"anyOf: what all require, any property": {
			`{"description":"d","anyOf":[{"title":"one","type":"object","properties":{"action":{"const":"get"},"id":{"type":"string"}},"required":["action","id"]},
			  {"type":"object","properties":{"action":{"enum":["put","del"]},"body":{"type":"string"}},"required":["action","body"]},{"type":"null"}]}`,
			`{"type":"object","description":"d","properties":{"action":{"enum":["get","put","del"]},"id":{"type":"string"},"body":{"type":"string"}},"required":["action"]}`,
		},
		"oneOf beside properties": {
			`{"type":"object","properties":{"a":{}},"required":["a"],"oneOf":[{"required":["b"],"properties":{"b":{}}},{"required":["c"],"properties":{"c":{}}}]}`,
			`{"type":"object","properties":{"a":{},"b":{},"c":{}},"required":["a"]}`,
		},
		"allOf: all that any requires": {
			`{"allOf":[{"properties":{"a":{"type":"string"}},"required":["a"]},{"properties":{"a":{"minLength":1},"b":{}},"required":["a","b"],"additionalProperties":false}]}`,
			`{"type":"object","properties":{"a":{"allOf":[{"type":"string"},{"minLength":1}]},"b":{}},"required":["a","b"],"additionalProperties":false}`,
		},
		"a property of two kinds": {
			`{"anyOf":[{"properties":{"a":{"type":"string"}}},{"properties":{"a":{"type":"number"}}},{"properties":{"a":{"type": "string"}}}]}`,
			`{"type":"object","properties":{"a":{"anyOf":[{"type":"string"},{"type":"number"}]}}}`,
		},
		"enumerations keep their type": {
			`{"anyOf":[{"properties":{"a":{"type":"string","const":"x","description":"d"}}},{"properties":{"a":{"type":"string","const":"y","description":"d"}}}]}`,
			`{"type":"object","properties":{"a":{"type":"string","enum":["x","y"],"description":"d"}}}`,
		},
		"closed only if all are": {
			`{"anyOf":[{"properties":{"a":{}},"additionalProperties":false},{"properties":{"b":{}}}]}`, `{"type":"object","properties":{"a":{},"b":{}}}`,
		},
		"unions in unions": {
			`{"anyOf":[{"oneOf":[{"properties":{"a":{}},"required":["a"]},{"properties":{"b":{}},"required":["b"]}]},{"allOf":[{"properties":{"c":{}}}]}]}`,
			`{"type":"object","properties":{"a":{},"b":{},"c":{}}}`,
		},
		"a reference": {
			`{"$ref":"#/definitions/T","definitions":{"T":{"type":"object","properties":{"a":{"$ref":"#/definitions/U"}},"required":["a"]},"U":{"type":"string"}}}`,
			`{"type":"object","definitions":{"T":{"type":"object","properties":{"a":{"$ref":"#/definitions/U"}},"required":["a"]},"U":{"type":"string"}},"properties":{"a":{"$ref":"#/definitions/U"}},"required":["a"]}`,
		},
		"what else is refused":         {`{"enum":[{}],"const":{},"not":{},"properties":{"not":{}}}`, `{"type":"object","properties":{"not":{}}}`},
		"a union further in stays":     {`{"properties":{"a":{"anyOf":[{"type":"string"},{"type":"null"}]}}}`, `{"type":"object","properties":{"a":{"anyOf":[{"type":"string"},{"type":"null"}]}}}`},
		"a property with markup in it": {`{"properties":{"a":{"description":"<a&b>"}}}`, `{"type":"object","properties":{"a":{"description":"<a&b>"}}}`},
	} {
		got, err := Normalise(json.RawMessage(tt.in))
		if err != nil || string(got) != tt.want {
			t.Errorf("%s: %v\n got %s\nwant %s", name, err, got, tt.want)
			continue
		}
		for range 3 { // deterministic, and a second time changes nothing
			if again, err := Normalise(got); err != nil || string(again) != tt.want {
				t.Errorf("%s, again: %v\n got %s", name, err, again)
			}
		}
	}
}

func TestSchemaThatIsNone(t *testing.T) {
	t.Parallel()
	twice := `{"anyOf":[` + strings.TrimSuffix(strings.Repeat(`{"$ref":"#/$defs/a"},`, 50), ",") + `]}`
	for name, in := range map[string]string{
		"no JSON": `{`, "no object": `[]`, "a text": `{"type":"string"}`, "no alternative": `{"anyOf":[{"type":"string"},{"type":"null"}]}`,
		"no alternatives": `{"anyOf":[]}`, "a far reference": `{"$ref":"https://example.com/s.json"}`, "a lost reference": `{"$ref":"#/$defs/a"}`,
		"itself": `{"$ref":"#/$defs/a","$defs":{"a":{"$ref":"#/$defs/a"}}}`, "a bomb": `{"$ref":"#/$defs/a","$defs":{"a":` + twice + `}}`,
		"names twice": `{"properties":{"a":{},"A":{}}}`, "required is no list": `{"required":"a"}`, "allOf with a text": `{"allOf":[{"type":"string"}]}`,
		"too large": `{"description":"` + strings.Repeat("x", maxSchema) + `"}`, "properties is a list": `{"properties":[]}`,
	} {
		if got, err := Normalise(json.RawMessage(in)); err == nil {
			t.Errorf("%s: got %.200s", name, got)
		}
	}
}

func FuzzNormalise(f *testing.F) {
	f.Add([]byte(`{"anyOf":[{"properties":{"a":{"const":1}}},{"properties":{"a":{"enum":[2]}},"required":["a"]}]}`))
	f.Add([]byte(`{"$ref":"#/$defs/a","$defs":{"a":{"allOf":[{"properties":{"b":{}}}]}}}`))
	f.Fuzz(func(t *testing.T, in []byte) {
		once, err := Normalise(in)
		if err != nil {
			return
		}
		twice, err := Normalise(once)
		if err != nil || string(once) != string(twice) {
			t.Errorf("%s\nbecame %s\nthen %s, %v", in, once, twice, err)
		}
		var root map[string]json.RawMessage
		if err := json.Unmarshal(once, &root); err != nil || string(root["type"]) != `"object"` {
			t.Errorf("%s: %v", once, err)
		}
		for _, k := range append(refused, "anyOf", "oneOf", "allOf") {
			if _, ok := root[k]; ok {
				t.Errorf("%s at the root of %s", k, once)
			}
		}
	})
}
