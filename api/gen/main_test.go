package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"testing"
	"time"
)

func TestCommittedFilesAreWhatIsGenerated(t *testing.T) {
	t.Parallel()
	files, err := generate("..")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		got, err := os.ReadFile(filepath.Join("..", filepath.FromSlash(f.path)))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, f.body) {
			t.Errorf("%s is stale; run \"make generate\" and commit it", f.path)
		}
	}
}

func TestEveryReferenceInTheSpecHasItsTarget(t *testing.T) {
	t.Parallel()
	types, err := contract("..")
	if err != nil {
		t.Fatal(err)
	}
	spec, err := openAPI(types)
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Components map[string]map[string]json.RawMessage `json:"components"`
	}
	if err := json.Unmarshal(spec, &doc); err != nil {
		t.Fatal(err)
	}
	refs := regexp.MustCompile(`"#/components/(\w+)/(\w+)"`).FindAllSubmatch(spec, -1)
	if len(refs) == 0 {
		t.Fatal("the spec refers to nothing")
	}
	for _, m := range refs {
		if doc.Components[string(m[1])][string(m[2])] == nil {
			t.Errorf("%s has no target", m[0])
		}
	}
}

func TestShapeOf(t *testing.T) {
	t.Parallel()
	type named string
	for name, c := range map[string]struct {
		value any
		want  string
	}{
		"a time is a string":               {time.Time{}, "string"},
		"a pointer is what it points to":   {(*int)(nil), "number"},
		"a named string is a string":       {named(""), "string"},
		"raw JSON is unknown":              {json.RawMessage(nil), "unknown"},
		"a map of lists":                   {map[string][]bool(nil), "Record<string, boolean[]>"},
		"a struct is named":                {field{}, "field"},
		"what has no JSON form is refused": {make(chan int), ""},
		"a map by number is refused":       {map[int]string(nil), ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, err := shapeOf(reflect.TypeOf(c.value))
			if (err != nil) != (c.want == "") {
				t.Fatalf("got error %v", err)
			}
			if err == nil && tsType(s) != c.want {
				t.Errorf("got %s, want %s", tsType(s), c.want)
			}
		})
	}
}

func TestReadFieldRefusesWhatItWouldGuessAt(t *testing.T) {
	t.Parallel()
	type odd struct {
		Untagged string
		Quoted   int    `json:"quoted,string"`
		Kept     string `json:"kept,omitempty"`
		Hidden   string `json:"-"`
	}
	typ := reflect.TypeFor[odd]()
	for i, want := range []struct{ ok, fails bool }{{false, true}, {false, true}, {true, false}, {false, false}} {
		f, ok, err := readField(typ.Field(i))
		if ok != want.ok || (err != nil) != want.fails {
			t.Errorf("%s: got %+v, %v, %v", typ.Field(i).Name, f, ok, err)
		}
	}
}
