package server

import (
	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/redact"
	"github.com/gatelatch/gatelatch/render"
)

// veil returns a call with the secrets of its input and its tool masked: as it is listed for
// those who do not decide on it. One that is asked for by its id is shown whole.
func veil(l gatelatch.Listed) gatelatch.Listed {
	c := *l.Call
	c.Tool, c.Input = redact.Text(c.Tool), redact.JSON(c.Input)
	l.Call = &c
	return l
}

// name is a name that an agent gave, for everybody who does not decide on it.
func name(s string) string { return render.OneLine(redact.Text(s)) }
