// Command gen writes what the API's Go types say in other languages: the page's
// TypeScript and an OpenAPI description. "go generate ./api" runs it in api/.
package main

import (
	"log"
	"os"
	"path/filepath"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("api/gen: ")
	files, err := generate(".")
	if err != nil {
		log.Fatal(err)
	}
	for _, f := range files {
		if err := os.WriteFile(filepath.FromSlash(f.path), f.body, 0o644); err != nil { //nolint:gosec // source files are for everybody
			log.Fatal(err)
		}
	}
}

// file is one output; its path is relative to api/, which is where dir leads.
type file struct {
	path string
	body []byte
}

func generate(dir string) ([]file, error) {
	types, err := contract(dir)
	if err != nil {
		return nil, err
	}
	spec, err := openAPI(types)
	if err != nil {
		return nil, err
	}
	return []file{
		{"../web/src/api.gen.ts", typeScript(types)},
		{"openapi/openapi.json", spec},
	}, nil
}
