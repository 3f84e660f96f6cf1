package server

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/api"
)

// views are the paths that the page itself routes: all get index.html.
var views = []string{"/", "/login", "/history", "/rules", "/insight"}

// page serves the built page from memory.
type page struct{ files map[string]file }

type file struct {
	data []byte
	kind string
	tag  string
}

func loadPage(web fs.FS) (*page, error) {
	p := &page{files: map[string]file{}}
	err := fs.WalkDir(web, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := fs.ReadFile(web, name)
		sum := gatelatch.SumOf(data)
		p.files["/"+name] = file{data, kindOf(name), `"` + base64.RawURLEncoding.EncodeToString(sum[:12]) + `"`}
		return err
	})
	if err == nil && p.files["/index.html"].data == nil {
		err = fmt.Errorf("the page has no index.html")
	}
	return p, err
}

// kindOf does not leave it to the machine what a manifest is.
func kindOf(name string) string {
	if path.Ext(name) == ".webmanifest" {
		return "application/manifest+json"
	}
	return mime.TypeByExtension(path.Ext(name))
}

// serve answers with a file. Files are no secret: anybody may load them, but
// only as our own page or by going there.
func (p *page) serve(d Door, w http.ResponseWriter, r *http.Request) {
	name := r.URL.Path
	if slices.Contains(views, name) {
		name = "/index.html"
	}
	f, ok := p.files[name]
	switch {
	case !ok:
		refuse(w, http.StatusNotFound, "not_found", "there is nothing here", "")
		return
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		w.Header().Set("Allow", "GET, HEAD")
		refuse(w, http.StatusMethodNotAllowed, api.CodeMethod, "the page is only read", "")
		return
	case !fromHere(d, r):
		refuse(w, http.StatusForbidden, api.CodeOrigin, "this request comes from another site", "")
		return
	}
	w.Header().Set("Content-Type", f.kind)
	w.Header().Set("ETag", f.tag)
	w.Header().Set("Cache-Control", keepOf(name))
	http.ServeContent(w, r, name, time.Time{}, bytes.NewReader(f.data))
}

// keepOf says how long a browser may keep a file. What the build names by its
// content never changes, so that not even a compiled script is thrown away.
func keepOf(name string) string {
	if strings.HasPrefix(name, "/assets/") {
		return "max-age=31536000, immutable"
	}
	return "no-cache"
}

// fromHere lets our own page load its files, and a person go to the page by a
// link or by typing; no other page may load or frame it.
func fromHere(d Door, r *http.Request) bool {
	if site := r.Header.Get("Sec-Fetch-Site"); site == "none" || site == "" ||
		r.Header.Get("Sec-Fetch-Mode") == "navigate" && r.Header.Get("Sec-Fetch-Dest") == "document" {
		return len(r.Header.Values("Origin")) == 0
	}
	_, err := checkOrigin(d, r)
	return err == nil
}
