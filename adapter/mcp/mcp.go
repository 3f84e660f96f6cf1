// Package mcp is the MCP tool that an agent's "--permission-prompt-tool" asks:
// one text block with the decision as JSON, after as long as it takes. Whatever
// goes wrong, the text is a denial that says so.
package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/adapter/ask"
	"github.com/gatelatch/gatelatch/adapter/control"
	"github.com/gatelatch/gatelatch/internal/fault"
	"github.com/gatelatch/gatelatch/internal/strictjson"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// Tool is the name of the tool.
const Tool = "approve"

// beat is how often a client that waits hears that there is progress. The
// shortest limit that was seen is a minute.
const beat = 15 * time.Second

// A Caller is who asks, and until when.
type Caller struct {
	Service gatelatch.Service
	Session gatelatch.SessionInfo
	Dir     string
	// Carrier ends with the connection that the answer goes to, or is nil. The
	// question stays, for who asks again.
	Carrier context.Context //nolint:containedctx // it is not ours: the tool's own context ends otherwise
}

// Server answers MCP clients.
type Server struct {
	desk    ask.Desk
	caller  func(*sdk.CallToolRequest) (Caller, error)
	explain func(error) string
	mcp     *sdk.Server
}

func newServer(version string, caller func(*sdk.CallToolRequest) (Caller, error), explain func(error) string) *Server {
	s := &Server{caller: caller, explain: explain}
	s.mcp = sdk.NewServer(&sdk.Implementation{Name: "gatelatch", Title: "Gatelatch", Version: version}, nil)
	s.mcp.AddTool(&sdk.Tool{
		Name:        Tool,
		Description: "Asks a person whether a tool call may run. For --permission-prompt-tool; it is of no use to a model.",
		InputSchema: map[string]any{
			"type":     "object",
			"required": []string{"tool_name", "input", "tool_use_id"},
			"properties": map[string]any{
				"tool_name":   map[string]any{"type": "string"},
				"input":       map[string]any{"type": "object"},
				"tool_use_id": map[string]any{"type": "string"},
			},
		},
	}, s.approve)
	return s
}

// Stdio serves one agent on a pipe until it goes away. who is called for each
// question.
func Stdio(ctx context.Context, in io.ReadCloser, out io.WriteCloser, version string, who func() (Caller, error), explain func(error) string) error {
	s := newServer(version, func(*sdk.CallToolRequest) (Caller, error) { return who() }, explain)
	err := s.mcp.Run(ctx, &sdk.IOTransport{Reader: in, Writer: out, MaxLineLength: maxLine})
	if errors.Is(err, io.EOF) || errors.Is(err, ctx.Err()) {
		err = nil // it was asked to end
	}
	return err
}

// maxLine is the largest input with all that is around it.
const maxLine = gatelatch.MostInput + 64<<10

// arguments are what Claude Code sends. Unknown names are let be: it gains some
// with every release.
type arguments struct {
	ToolName  string          `json:"tool_name"`
	Input     json.RawMessage `json:"input"`
	ToolUseID string          `json:"tool_use_id"`
}

func (s *Server) approve(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	if isHook(req) {
		return denyHook(req)
	}
	a, err := s.ask(ctx, req)
	if err != nil {
		a = ask.Answer{Text: s.explain(err)}
	}
	text, err := form(a)
	if err != nil {
		return nil, err
	}
	return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: string(text)}}}, nil
}

func (s *Server) ask(ctx context.Context, req *sdk.CallToolRequest) (a ask.Answer, err error) {
	defer func() {
		if p := recover(); p != nil {
			fault.Log(nil, "an MCP call", p)
			a, err = ask.Answer{}, errors.New("it failed on this call")
		}
	}()
	who, err := s.caller(req)
	if err != nil {
		return ask.Answer{}, err
	}
	var in arguments
	if err := strictjson.UnmarshalLoose(req.Params.Arguments, &in); err != nil {
		return ask.Answer{}, fmt.Errorf("%w: the arguments can't be read: %w", gatelatch.ErrInvalid, err)
	}
	wait, stop := patience(ctx, who.Carrier)
	defer stop()
	go tell(wait, ctx, req)
	return s.desk.Ask(wait, who.Service, ask.Question{
		Session: who.Session, ID: in.ToolUseID, Tool: in.ToolName, Input: in.Input, Dir: who.Dir,
	}, nil)
}

var errLost = errors.New("the connection was lost; the question stays, and asking again picks up its answer")

// patience ends with the client's own word that it no longer asks, or with the
// connection.
func patience(ctx, carrier context.Context) (context.Context, func()) {
	wait, end := context.WithCancelCause(context.WithoutCancel(ctx))
	unlink := context.AfterFunc(ctx, func() {
		// A cancelled notification has no cause. Behind the end of a pipe
		// there is no agent any more.
		if cause := context.Cause(ctx); errors.Is(cause, context.Canceled) || carrier == nil {
			end(ask.ErrCancelled)
			return
		}
		end(errLost)
	})
	lost := func() bool { return true }
	if carrier != nil {
		lost = context.AfterFunc(carrier, func() { end(errLost) })
	}
	return wait, func() { unlink(); lost(); end(nil) }
}

// tell keeps clients from giving up: each of them has a limit, and progress
// begins it anew. The first word goes out at once, and with it the headers.
func tell(wait, ctx context.Context, req *sdk.CallToolRequest) {
	token := req.Params.GetProgressToken()
	if token == nil {
		return
	}
	tick := time.NewTicker(beat)
	defer tick.Stop()
	for n := 1.0; ; n++ {
		err := req.Session.NotifyProgress(ctx, &sdk.ProgressNotificationParams{ProgressToken: token, Progress: n, Message: "waiting for a decision"})
		if err != nil {
			return
		}
		select {
		case <-wait.Done():
			return
		case <-tick.C:
		}
	}
}

// form is the answer as Claude Code reads it. An allow always carries the input
// (P5), a denial always a message.
func form(a ask.Answer) ([]byte, error) {
	if !a.Allowed {
		return strictjson.Marshal(control.DenyResult(a.Text, a.Interrupt))
	}
	r := control.AllowResult(a.Input)
	if a.Mode != "" {
		r.UpdatedPermissions = []control.Permission{control.SetMode(string(a.Mode))}
	}
	return strictjson.Marshal(r)
}
