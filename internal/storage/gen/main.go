// Command gen writes the encoder of package storage from the fields of
// gatelatch.Batch. "go generate ./internal/storage" runs it there.
package main

import (
	"log"
	"os"
	"reflect"

	"github.com/gatelatch/gatelatch"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("storage/gen: ")
	src, err := generate(reflect.TypeFor[gatelatch.Batch]())
	if err != nil {
		log.Fatal(err)
	}
	if err := os.WriteFile("encode_gen.go", src, 0o644); err != nil { //nolint:gosec // source files are for everybody
		log.Fatal(err)
	}
}
