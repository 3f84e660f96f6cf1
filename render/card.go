// Package render turns a call into what a person sees: a sentence of ours and
// the agent's bytes with nothing hidden in them. The page and the command line
// show the same card.
package render

import "github.com/gatelatch/gatelatch/api"

// What a card is made of is part of the contract: it goes over the wire.

type (
	// Card is one call, ready to show.
	Card = api.Card
	// Block is one part of the call in full.
	Block = api.Block
	// Segment is a piece of text.
	Segment = api.Segment
	// Line is one line of a diff.
	Line = api.Line
	// Touch is one thing that the call does.
	Touch = api.Touch
	// Say is a sentence for other languages.
	Say = api.Say
	// Field is one field of a form.
	Field = api.Field
	// Question is one question of an agent.
	Question = api.Question
	// Option is one answer that the agent offers.
	Option = api.Option
)

// A File is a file as it is now.
type File struct {
	Text    string
	Missing bool // there is none
}

// Files looks up the file that a call would change; nil is that nothing can be
// said about it.
type Files func(path string) *File

func (f Files) at(path string) *File {
	if f == nil {
		return nil
	}
	return f(path)
}
