// Package tap notes what a gateway was asked and what it answered, so that the
// end-to-end tests can hold it against the description of the API. Only what is
// built with the tag "tap" does: the product has none of it.
package tap

// Dir is the environment variable that names the directory to write to.
const Dir = "GATELATCH_TAP"

// Exchange is one request and its answer: a file of JSON each.
type Exchange struct {
	Method string `json:"method"`
	Target string `json:"target"`
	Body   []byte `json:"body"`
	Status int    `json:"status"`
	Type   string `json:"type"`
	Answer []byte `json:"answer"`
}
