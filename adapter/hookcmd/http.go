package hookcmd

import (
	"context"
	"fmt"
	"time"
)

// Serve answers an event that came as the body of a hook of type http. limit is
// the host's own, which the answer comes before. Whatever goes wrong, it is a
// denial: any other status than 200 would be no opinion.
//
// ctx ends with the connection, which means that the agent stopped asking;
// stopping ends with the gateway, which does not.
func (c *Claude) Serve(ctx, stopping context.Context, raw []byte, limit time.Duration) (out []byte) {
	in, err := readClaude(raw)
	e := in.event()
	defer func() {
		if p := recover(); p != nil {
			out = e.deny(fmt.Sprintf("the hook failed: %v", p)).Out
		}
	}()
	if err != nil {
		return e.deny(err.Error()).Out
	}
	in.TranscriptPath = "" // no file is read because an agent says so
	wait, end := context.WithCancelCause(context.WithoutCancel(ctx))
	defer end(nil)
	unlink := context.AfterFunc(ctx, func() {
		if stopping.Err() != nil {
			end(errLimit)
		}
		end(context.Canceled)
	})
	defer unlink()
	wait, stop := context.WithTimeoutCause(wait, limit*8/10, errLimit)
	defer stop()
	a, err := c.Answer(wait, in)
	if err != nil {
		return e.deny(err.Error()).Out
	}
	return a.Out
}
