package policy

import _ "embed"

// Schema is the JSON Schema of policy.yaml, for editors. The loader knows more:
// it also reads the rules.
//
//go:embed schema.json
var Schema []byte
