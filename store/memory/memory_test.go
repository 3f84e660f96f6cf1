package memory

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"github.com/gatelatch/gatelatch"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// A clone holds what a store that writes JSON would hold, whatever fields the
// types have, and shares nothing with the original.
func TestCloneIsWhatJSONKeeps(t *testing.T) {
	var b gatelatch.Batch
	fill(reflect.ValueOf(&b).Elem())
	var g gatelatch.Grant
	fill(reflect.ValueOf(&g).Elem())
	var k gatelatch.Key
	fill(reflect.ValueOf(&k).Elem())
	var c gatelatch.Control
	fill(reflect.ValueOf(&c).Elem())
	var s gatelatch.Session
	fill(reflect.ValueOf(&s).Elem())
	b.Version, g.Version, k.Version, c.Version, s.Version = 0, 0, 0, 0, 0
	same(t, &b, clone(&b), new(gatelatch.Batch))
	same(t, &g, cloneGrant(g), new(gatelatch.Grant))
	same(t, &k, cloneKey(k), new(gatelatch.Key))
	same(t, &c, cloneControl(c), new(gatelatch.Control))
	same(t, &s, cloneSession(s), new(gatelatch.Session))
	// Version is no part of the body, and these have no pointers at all.
	for _, v := range []any{gatelatch.Work{}, gatelatch.Revision{}, gatelatch.Message{}, gatelatch.Cursor{}} {
		if at := pointer(reflect.TypeOf(v)); at != "" {
			t.Errorf("%T has a pointer at %s: it needs a clone", v, at)
		}
	}
}

func same(t *testing.T, from, got, want any) {
	t.Helper()
	raw, err := json.Marshal(from)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, want); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(gatelatch.Batch{})); diff != "" {
		t.Errorf("%T: JSON keeps -, a clone +\n%s", from, diff)
	}
	seen := map[uintptr]string{}
	walk(reflect.ValueOf(from), "", func(p uintptr, at string) { seen[p] = at })
	walk(reflect.ValueOf(got), "", func(p uintptr, at string) {
		if seen[p] != "" {
			t.Errorf("%T: a clone shares %s", from, at)
		}
	})
}

// fill gives every exported field a value that is not zero.
func fill(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem())
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			v.Set(reflect.ValueOf(time.Date(2026, 1, 2, 3, 4, 5, 6000, time.UTC)))
			return
		}
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				fill(v.Field(i))
			}
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0))
	case reflect.Array:
		fill(v.Index(0))
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		k, e := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		fill(k)
		fill(e)
		v.SetMapIndex(k, e)
	case reflect.String:
		v.SetString("x")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(1)
	case reflect.Uint8, reflect.Uint32:
		v.SetUint(1)
	default:
		panic("fill " + v.Kind().String())
	}
}

// walk calls fn with each pointer, slice and map below v.
func walk(v reflect.Value, at string, fn func(uintptr, string)) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			fn(v.Pointer(), at)
			walk(v.Elem(), at, fn)
		}
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			return
		}
		for i := range v.NumField() {
			walk(v.Field(i), at+"."+v.Type().Field(i).Name, fn)
		}
	case reflect.Slice:
		if v.Len() > 0 {
			fn(v.Pointer(), at)
		}
		for i := range v.Len() {
			walk(v.Index(i), at, fn)
		}
	case reflect.Map:
		if !v.IsNil() {
			fn(v.Pointer(), at)
		}
	default:
	}
}

// pointer returns where a type shares what it holds, or "".
func pointer(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map:
		return t.String()
	case reflect.Struct:
		if t == reflect.TypeFor[time.Time]() {
			return ""
		}
		for i := range t.NumField() {
			if at := pointer(t.Field(i).Type); at != "" {
				return t.Field(i).Name + " " + at
			}
		}
	default:
	}
	return ""
}
