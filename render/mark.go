package render

import "github.com/gatelatch/gatelatch"

// Mark escapes a text of several lines and cuts it so that the parts between
// start and end, in bytes, are marked.
func Mark(text string, parts [][2]int) []Segment {
	var reasons []gatelatch.Reason
	for _, p := range parts {
		reasons = append(reasons, gatelatch.Reason{Effect: gatelatch.Ask, Start: p[0], End: p[1]})
	}
	return segments(text, reasons)
}
