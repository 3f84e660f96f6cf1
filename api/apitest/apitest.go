// Package apitest holds what goes over the wire against the OpenAPI description
// that is published, so that it can't promise what is not so.
package apitest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/gatelatch/gatelatch/api/openapi"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// A Checker knows the description.
type Checker struct {
	mux     *http.ServeMux // only to find the operation of a request
	ops     map[string]*operation
	schemas map[string]*jsonschema.Schema // by reference
}

type operation struct {
	Parameters  []parameter        `json:"parameters"`
	RequestBody *content           `json:"requestBody"`
	Responses   map[string]content `json:"responses"`
}

type parameter struct {
	Name string `json:"name"`
	In   string `json:"in"`
}

type content struct {
	Ref     string           `json:"$ref"`
	Content map[string]media `json:"content"`
}

type media struct {
	Schema schemaRef `json:"schema"`
	Event  schemaRef `json:"x-event"`
}

type schemaRef struct {
	Ref string `json:"$ref"`
}

// An Exchange is one request and its answer.
type Exchange struct {
	Request *http.Request
	Body    []byte
	Status  int
	Type    string // media type of the answer
	Answer  []byte
}

var shared = sync.OnceValues(New)

// For returns the checker of this process, and where to tell it what is wrong:
// t fails with that in the end, however late it was found.
func For(t testing.TB) (*Checker, func(error)) {
	t.Helper()
	c, err := shared()
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var all []error
	t.Cleanup(func() {
		mu.Lock()
		defer mu.Unlock()
		for _, err := range all {
			t.Error(err)
		}
	})
	return c, func(err error) {
		mu.Lock()
		defer mu.Unlock()
		all = append(all, err)
	}
}

// New reads the description. Clients take fields that they do not know; here
// one that is not described is an error.
func New() (*Checker, error) {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(openapi.JSON))
	if err != nil {
		return nil, err
	}
	closeObjects(doc)
	compiler := jsonschema.NewCompiler()
	compiler.AssertFormat()
	compiler.AssertContent()
	if err := compiler.AddResource("openapi.json", doc); err != nil {
		return nil, err
	}
	var described struct {
		Paths      map[string]map[string]*operation
		Components struct {
			Responses map[string]content
			Schemas   map[string]json.RawMessage
		}
	}
	if err := json.Unmarshal(openapi.JSON, &described); err != nil {
		return nil, err
	}
	c := &Checker{mux: http.NewServeMux(), ops: map[string]*operation{}, schemas: map[string]*jsonschema.Schema{}}
	for name := range described.Components.Schemas {
		ref := "#/components/schemas/" + name
		if c.schemas[ref], err = compiler.Compile("openapi.json" + ref); err != nil {
			return nil, err
		}
	}
	for path, methods := range described.Paths {
		for method, op := range methods {
			for status, r := range op.Responses {
				if name, ok := strings.CutPrefix(r.Ref, "#/components/responses/"); ok {
					op.Responses[status] = described.Components.Responses[name]
				}
			}
			pattern := strings.ToUpper(method) + " " + path
			c.ops[pattern] = op
			c.mux.Handle(pattern, http.NotFoundHandler())
		}
	}
	return c, nil
}

// closeObjects lets no object have a field that is not described.
func closeObjects(node any) {
	switch n := node.(type) {
	case map[string]any:
		if _, ok := n["properties"].(map[string]any); ok && n["type"] == "object" {
			n["additionalProperties"] = false
		}
		for _, v := range n {
			closeObjects(v)
		}
	case []any:
		for _, v := range n {
			closeObjects(v)
		}
	}
}

// Check says how an exchange is not as described.
func (c *Checker) Check(e Exchange) error {
	if err := c.check(e); err != nil {
		return fmt.Errorf("%s %s, answered %d: %w\nasked: %.2000s\nanswer: %.2000s", e.Request.Method, e.Request.URL, e.Status, err, e.Body, e.Answer)
	}
	return nil
}

func (c *Checker) check(e Exchange) error {
	_, pattern := c.mux.Handler(e.Request)
	op := c.ops[pattern]
	good := e.Status < 300
	switch {
	case op == nil && good && strings.HasPrefix(e.Request.URL.Path, "/v1/"):
		return errors.New("this is not described")
	case op == nil && e.Type == "application/problem+json":
		return c.valid("#/components/schemas/Problem", e.Answer)
	case op == nil || e.Request.Method == http.MethodHead:
		return nil
	}
	if good {
		if err := c.asked(op, e); err != nil {
			return fmt.Errorf("the request: %w", err)
		}
	}
	return c.answered(op, e)
}

// asked checks a request that was taken.
func (c *Checker) asked(op *operation, e Exchange) error {
	takes := func(p parameter) bool { return p.In == "query" } // who takes none passes over all
	for name := range e.Request.URL.Query() {
		if slices.ContainsFunc(op.Parameters, takes) && !slices.Contains(op.Parameters, parameter{name, "query"}) {
			return fmt.Errorf("the parameter %q is not described", name)
		}
	}
	if op.RequestBody == nil {
		if len(e.Body) > 0 {
			return errors.New("a body is not described")
		}
		return nil
	}
	return c.valid(op.RequestBody.Content["application/json"].Schema.Ref, e.Body)
}

func (c *Checker) answered(op *operation, e Exchange) error {
	r, ok := op.Responses[strconv.Itoa(e.Status)]
	if !ok {
		if e.Status < 400 {
			return errors.New("this status is not described")
		}
		r = op.Responses["default"]
	}
	kind, _, err := mime.ParseMediaType(e.Type)
	if err != nil {
		return err
	}
	m, ok := r.Content[kind]
	switch {
	case !ok:
		return fmt.Errorf("an answer is %v, not %s", slices.Collect(maps.Keys(r.Content)), kind)
	case m.Event.Ref != "":
		return c.events(m.Event.Ref, e.Answer)
	}
	return c.valid(m.Schema.Ref, e.Answer)
}

// events checks the data of a stream, which may have been cut anywhere.
func (c *Checker) events(ref string, text []byte) error {
	if whole := bytes.LastIndex(text, []byte("\n\n")); whole >= 0 {
		text = text[:whole]
	}
	lines := bufio.NewScanner(bytes.NewReader(text))
	lines.Buffer(nil, len(text)+1)
	kind := ""
	for lines.Scan() {
		name, value, _ := strings.Cut(lines.Text(), ": ")
		switch name {
		case "event":
			kind = value
		case "data":
			if kind == "resync" {
				continue
			}
			if err := c.valid(ref, []byte(value)); err != nil {
				return err
			}
		case "", "id", "retry":
		default:
			return fmt.Errorf("a stream has no field %q", name)
		}
	}
	return lines.Err()
}

// valid checks JSON against a schema. Without one it has to be JSON.
func (c *Checker) valid(ref string, raw []byte) error {
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil || ref == "" {
		return err
	}
	s, ok := c.schemas[ref]
	if !ok {
		return fmt.Errorf("there is no schema %s", ref)
	}
	return s.Validate(v)
}
