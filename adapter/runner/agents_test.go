//go:build unix

package runner

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/gatelatch/gatelatch/adapter/control"
)

// The test's own program plays agents, each with one fault.
func TestMain(m *testing.M) {
	if play := agents[os.Getenv("PLAY_AGENT")]; play != nil {
		os.Exit(play(newPlayed()))
	}
	os.Exit(m.Run())
}

// played is the agent's end of the pipes.
type played struct{ in *bufio.Scanner }

func newPlayed() *played {
	p := &played{in: bufio.NewScanner(os.Stdin)}
	p.in.Buffer(nil, control.MaxMessage)
	return p
}

// hear returns the host's next line, false at the end.
func (p *played) hear() (m control.Message, ok bool) {
	if !p.in.Scan() {
		return m, false
	}
	return m, json.Unmarshal(p.in.Bytes(), &m) == nil
}

func (p *played) say(format string, args ...any) { fmt.Printf(format+"\n", args...) }

// greet answers initialize, and waits for the first prompt.
func (p *played) greet() {
	m, _ := p.hear()
	p.say(`{"type":"control_response","response":{"subtype":"success","request_id":%q,"response":{"hook_on_failure_supported":true}}}`, m.RequestID)
	p.say(`{"type":"system","subtype":"init","session_id":"s1","cwd":"/p","permissionMode":"default"}`)
	p.hear()
}

// ask asks for a call and returns how it was answered.
func (p *played) ask(command string) control.Result {
	p.say(`{"type":"control_request","request_id":"r1","request":{"subtype":"can_use_tool","tool_name":"Bash","input":{"command":%q},"tool_use_id":"t1"}}`, command)
	for {
		m, ok := p.hear()
		if !ok {
			return control.Result{Behavior: "nothing"}
		}
		if m.Type == control.TypeResponse {
			var r control.Result
			_ = json.Unmarshal(m.Response.Response, &r)
			return r
		}
	}
}

func (p *played) tell(text string) {
	p.say(`{"type":"assistant","message":{"id":"m","content":[{"type":"text","text":%q}]},"parent_tool_use_id":null}`, text)
}

const over = `{"type":"result","subtype":"success","is_error":false}`

// drain waits until the host hangs up.
func (p *played) drain() {
	for p.in.Scan() {
	}
}

var agents = map[string]func(p *played) int{
	"asks": func(p *played) int {
		p.greet()
		p.tell(p.ask("touch x").Behavior)
		p.say(over)
		p.drain()
		return 3
	},
	"policy": func(p *played) int {
		p.greet()
		p.tell(p.ask("pwd").Behavior)
		p.say(over)
		p.drain()
		return 0
	},
	"garbage": func(p *played) int {
		p.greet()
		p.say("not json at all")
		p.say(`{"type":"control_request","request_id":"r9","request":{"subtype":"take_over"}}`)
		m, _ := p.hear()
		p.tell(m.Response.Subtype)
		p.say(over)
		p.drain()
		return 0
	},
	"endless line": func(p *played) int {
		p.greet()
		fmt.Print(strings.Repeat("x", control.MaxMessage+10))
		p.drain()
		return 0
	},
	"old": func(p *played) int {
		m, _ := p.hear()
		p.say(`{"type":"control_response","response":{"subtype":"success","request_id":%q,"response":{"claude_code_version":"2.1.200"}}}`, m.RequestID)
		p.drain()
		return 0
	},
	"runs unasked": func(p *played) int {
		p.greet()
		p.say(`{"type":"assistant","message":{"id":"m","content":[{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"ls"}}]}}`)
		p.say(`{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t1","is_error":false}]}}`)
		p.drain()
		return 0
	},
	"dies": func(p *played) int {
		p.greet()
		_ = syscall.Kill(os.Getpid(), syscall.SIGTERM)
		p.drain()
		return 0
	},
	"interrupted": func(p *played) int {
		p.greet()
		p.say(`{"type":"system","subtype":"working"}`)
		return p.stops()
	},
	"interrupted by a person": func(p *played) int {
		m, _ := p.hear()
		p.say(`{"type":"control_response","response":{"subtype":"success","request_id":%q,"response":{"hook_on_failure_supported":true}}}`, m.RequestID)
		p.hear() // the prompt, before an interrupt can come
		p.say(`{"type":"system","subtype":"init","session_id":"s1"}`)
		return p.stops()
	},
	"sub-agent goes on": func(p *played) int {
		p.greet()
		p.say(`{"type":"system","subtype":"background_tasks_changed","tasks":[{"task_id":"a","task_type":"local_agent"}]}`)
		p.say(over)
		p.tell(p.ask("pwd").Behavior) // the host must still listen
		p.say(`{"type":"system","subtype":"background_tasks_changed","tasks":[]}`)
		p.say(over)
		p.drain()
		return 0
	},
}

// stops hears the interrupt, confirms it and ends.
func (p *played) stops() int {
	m, _ := p.hear()
	if m.Subtype() == control.SubInterrupt {
		p.tell("stopped")
	}
	p.say(`{"type":"control_response","response":{"subtype":"success","request_id":%q,"response":{}}}`, m.RequestID)
	p.say(over)
	p.drain()
	return 1
}
