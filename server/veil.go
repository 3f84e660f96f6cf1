package server

import (
	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/redact"
)

// veil returns a call with the secrets of its input masked: as it is listed for
// those who do not decide on it. One that is asked for by its id is shown whole.
func veil(l gatelatch.Listed) gatelatch.Listed {
	c := *l.Call
	c.Input = redact.JSON(c.Input)
	l.Call = &c
	return l
}
