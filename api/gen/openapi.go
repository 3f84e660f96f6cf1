package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
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
		op, err := operation(r)
		if err != nil {
			return nil, fmt.Errorf("route %s: %w", r.Name, err)
		}
		paths[r.Path][strings.ToLower(r.Method)] = op
	}
	doc := dict{
		"openapi": "3.1.0",
		"info": dict{
			"title":       "Gatelatch",
			"version":     "1",
			"license":     dict{"name": "Apache 2.0", "identifier": "Apache-2.0"},
			"description": "The gate between AI agents and what they want to do. x-role says who may use an operation. Answers may gain fields; requests with a field that is not known are refused.",
		},
		"servers": []dict{
			{"url": "http://127.0.0.1:7474", "description": "loopback: browsers, and whoever has a key"},
			{"url": "http://" + api.SocketHost, "description": "the Unix sockets in run/ of the state directory: agent.sock can only ask, approver.sock decides"},
		},
		"paths": paths,
		"components": dict{
			"schemas":         schemas,
			"responses":       dict{"Problem": problem("What went wrong, and what to do (RFC 9457). The code is stable.")},
			"securitySchemes": schemes,
		},
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err := e.Encode(doc)
	return b.Bytes(), err
}

func operation(r api.Route) (dict, error) {
	who, err := security(r.Role)
	if err == nil && says[r.Name] == "" {
		err = fmt.Errorf("nothing says what it is for: write it into api/gen/says.go")
	}
	op := dict{"operationId": r.Name, "summary": says[r.Name], "x-role": string(r.Role), "security": who, "responses": responses(r)}
	if ps := parameters(r); ps != nil {
		op["parameters"] = ps
	}
	if in := bodyName(r.In); in != "" {
		op["requestBody"] = dict{"required": true, "content": jsonBody("application/json", in)}
	}
	return op, err
}

func parameters(r api.Route) (out []dict) {
	for _, p := range params(r.Path) {
		out = append(out, dict{"name": p, "in": "path", "required": true, "schema": dict{"type": "string"}})
	}
	add := func(in string, all []query) {
		for _, q := range all {
			out = append(out, dict{"name": q.name, "in": in, "description": q.says, "schema": schema(shape{kind: q.kind})})
		}
	}
	add("query", queries[r.Name])
	add("header", headers[r.Name])
	return out
}

func responses(r api.Route) dict {
	ok := dict{"description": "Done."}
	out := bodyName(r.Out)
	switch {
	case r.Stream:
		ok["description"] = "Server-sent events; the data of each is " + out + ", its id the number to go on from. An event resync says that the trail was cut back: read everything anew."
		ok["content"] = dict{"text/event-stream": dict{"schema": dict{"type": "string"}, "x-event": schema(shape{kind: reference, ref: out})}}
	case out != "":
		ok["content"] = jsonBody("application/json", out)
	default:
		ok["content"] = dict{"application/json": dict{"schema": dict{"type": "object"}}}
	}
	all := dict{"200": ok, "default": dict{"$ref": "#/components/responses/Problem"}}
	if r.Waits {
		all["202"] = dict{"description": "Calls still wait when the time is over: ask again.", "content": jsonBody("application/json", out)}
	}
	for status, why := range refusals(r) {
		all[strconv.Itoa(status)] = problem(why)
	}
	return all
}

// refusals are the problems that callers of a route should expect.
func refusals(r api.Route) map[int]string {
	out := map[int]string{}
	if r.Role != api.Anybody {
		out[401] = "No valid key or session."
		out[403] = "The key is for something else."
	}
	if r.In != nil || queries[r.Name] != nil {
		out[400] = "Something in the request makes no sense."
	}
	if len(params(r.Path)) > 0 {
		out[404] = "There is nothing with this id that the asker may know of."
	}
	if r.In != nil && r.Role != api.Anybody {
		out[409] = "It was said before and differently, or decided; decided says by whom."
	}
	if r.Name == "Decide" || r.Name == "Edit" || r.Name == "Consume" {
		out[410] = "Nobody decided in time, or came for the allow."
	}
	return out
}

func problem(why string) dict {
	return dict{"description": why, "content": jsonBody(api.ProblemType, "Problem")}
}

func jsonBody(mediaType, name string) dict {
	return dict{mediaType: dict{"schema": schema(shape{kind: reference, ref: name})}}
}

func objectSchema(o object) dict {
	properties := dict{}
	var required []string
	for _, f := range o.fields {
		p := schema(f.shape)
		if f.says != "" {
			p["description"] = f.says
		}
		if f.words != nil {
			p["enum"] = f.words
		}
		properties[f.name] = p
		if !f.optional {
			required = append(required, f.name)
		}
	}
	s := dict{"type": "object", "properties": properties, "description": o.says}
	if required != nil {
		s["required"] = required
	}
	if o.asked {
		s["additionalProperties"] = false
	}
	return s
}

func schema(s shape) dict {
	switch s.kind {
	case text:
		return dict{"type": "string"}
	case base64:
		return dict{"type": "string", "contentEncoding": "base64"}
	case moment:
		return dict{"type": "string", "format": "date-time"}
	case number:
		return dict{"type": "number"}
	case integer:
		return dict{"type": "integer", "format": "int64"}
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
