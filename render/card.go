// Package render turns a call into what a person sees: a sentence of ours and
// the agent's bytes with nothing hidden in them. The page and the command line
// show the same card.
package render

import "github.com/gatelatch/gatelatch/api"

// Card and its parts are what goes over the wire.
type (
	Card     = api.Card
	Block    = api.Block
	Segment  = api.Segment
	Line     = api.Line
	Question = api.Question
	Option   = api.Option
)
