package main

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/gatelatch/gatelatch/api"
)

type dict = map[string]any

func openAPI(types []object) ([]byte, error) {
	schemas := dict{}
	for _, o := range types {
		schemas[o.name] = objectSchema(o)
	}
	paths := map[string]dict{}
	for _, r := range api.Routes {
		if paths[r.Path] == nil {
			paths[r.Path] = dict{}
		}
		paths[r.Path][strings.ToLower(r.Method)] = operation(r)
	}
	doc := dict{
		"openapi": "3.1.0",
		"info": dict{
			"title":       "Gatelatch",
			"version":     "1",
			"description": "x-role says who may use an operation. A browser sends its session in two halves: a cookie and the header " + api.PageHeader + ".",
		},
		"paths": paths,
		"components": dict{
			"schemas": schemas,
			"responses": dict{"Error": dict{
				"description": "What went wrong, and what to do. The code is stable.",
				"content":     jsonBody("ErrorBody"),
			}},
		},
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err := e.Encode(doc)
	return b.Bytes(), err
}

func operation(r api.Route) dict {
	op := dict{"operationId": r.Name, "x-role": string(r.Role)}
	var parameters []dict
	for _, p := range params(r.Path) {
		parameters = append(parameters, dict{"name": p, "in": "path", "required": true, "schema": dict{"type": "string"}})
	}
	for _, q := range queries[r.Name] {
		parameters = append(parameters, dict{"name": q.name, "in": "query", "description": q.says, "schema": schema(shape{kind: q.kind})})
	}
	if parameters != nil {
		op["parameters"] = parameters
	}
	if in := bodyName(r.In); in != "" {
		op["requestBody"] = dict{"required": true, "content": jsonBody(in)}
	}
	ok := dict{"description": "Done."}
	switch out := bodyName(r.Out); {
	case r.Stream:
		ok["description"] = "Server-sent events; the data of each is " + out + "."
		ok["content"] = dict{"text/event-stream": dict{"schema": dict{"type": "string"}}}
	case out != "":
		ok["content"] = jsonBody(out)
	}
	op["responses"] = dict{"200": ok, "default": dict{"$ref": "#/components/responses/Error"}}
	return op
}

func jsonBody(name string) dict {
	return dict{"application/json": dict{"schema": schema(shape{kind: reference, ref: name})}}
}

func objectSchema(o object) dict {
	properties := dict{}
	var required []string
	for _, f := range o.fields {
		properties[f.name] = schema(f.shape)
		if !f.optional {
			required = append(required, f.name)
		}
	}
	s := dict{"type": "object", "properties": properties}
	if required != nil {
		s["required"] = required
	}
	return s
}

func schema(s shape) dict {
	switch s.kind {
	case text:
		return dict{"type": "string"}
	case moment:
		return dict{"type": "string", "format": "date-time"}
	case number:
		return dict{"type": "number"}
	case integer:
		return dict{"type": "integer"}
	case boolean:
		return dict{"type": "boolean"}
	case array:
		return dict{"type": "array", "items": schema(*s.elem)}
	case mapping:
		return dict{"type": "object", "additionalProperties": schema(*s.elem)}
	case reference:
		return dict{"$ref": "#/components/schemas/" + s.ref}
	case anything:
		return dict{}
	default:
		panic("a shape without a schema")
	}
}
