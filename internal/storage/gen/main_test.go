package main

import (
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/gatelatch/gatelatch"
)

// The encoder must be what the fields give: one that it does not know would
// never reach a database.
func TestEncoderIsUpToDate(t *testing.T) {
	t.Parallel()
	want, err := generate(reflect.TypeFor[gatelatch.Batch]())
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile("../encode_gen.go")
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != string(want) {
		t.Error(`encode_gen.go is stale: run "go generate ./internal/storage"`)
	}
}

func TestWhatItWouldGuessAtIsRefused(t *testing.T) {
	t.Parallel()
	type Embedded struct{}
	type odd struct {
		Embedded
		Untagged string
		Unnamed  string         `json:",omitempty"`
		Quoted   int            `json:"quoted,string"`
		Struct   gatelatch.Call `json:"struct,omitzero"`
		Pointer  *time.Time     `json:"pointer,omitzero"`
	}
	for f := range reflect.TypeFor[odd]().Fields() {
		w := &writer{}
		if err := w.field(f); err == nil {
			t.Errorf("%s: got %s", f.Name, w)
		}
	}
}

func TestTheRareIsLeftToEncodingJSON(t *testing.T) {
	t.Parallel()
	type rare struct {
		Float   float64           `json:"float"`
		Bytes   []byte            `json:"bytes"`
		Lists   [][]string        `json:"lists"`
		Map     map[string]string `json:"map"`
		Any     any               `json:"any"`
		Number  *int              `json:"number"`
		Foreign []reflect.Value   `json:"foreign"`
	}
	src, err := generate(reflect.TypeFor[rare]())
	if err != nil {
		t.Fatal(err)
	}
	for field := range reflect.TypeFor[rare]().Fields() {
		if !strings.Contains(string(src), "e.other(to, &v."+field.Name) {
			t.Errorf("%s is not:\n%s", field.Name, src)
		}
	}
}
