// Package openapi holds the description of the HTTP API that is generated from
// the types of package api. It stands apart so that the hook does not link it.
package openapi

import _ "embed"

// JSON is an OpenAPI 3.1 document.
//
//go:embed openapi.json
var JSON []byte
