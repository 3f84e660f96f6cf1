package watch

import "github.com/gatelatch/gatelatch/api"

var unbound = map[string]string{
	"code":    "It runs code that is not in one file that it names.",
	"file":    "A file that it depends on can't be read or is too large.",
	"machine": "The agent runs on another machine.",
}

// bound says what an allow is for besides the input, and that nobody waits.
func (s *sheet) bound(c api.Call) {
	if c.Parked || c.Left != nil {
		s.ours("  ", Span{"Nobody waits for the answer at present; it is kept for when the agent asks again.", Close})
	}
	b := c.Bound
	if b == nil {
		return
	}
	for _, f := range b.Files {
		says := "as it is now"
		if f.Sum == "" {
			says = "while there is no such file"
		}
		s.ours("  ", Span{"An allow is for " + quoted(f.Path) + " " + says + "; if that changes before, the agent has to ask again.", Dim})
	}
	if b.Server != nil {
		s.ours("  ", Span{"An allow is for the server " + quoted(b.Server.Name) + " as it is set up now: " + quoted(b.Server.Launch), 0})
	}
	if b.Unbound != "" {
		s.ours("  ", Span{"Content not bound: ", Close | Bold}, Span{unbound[b.Unbound] + " It may change before the call runs.", Close})
	}
}
