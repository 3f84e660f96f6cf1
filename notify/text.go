package notify

import (
	"cmp"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/internal/id"
	"github.com/gatelatch/gatelatch/internal/strictjson"
	"github.com/gatelatch/gatelatch/redact"
	"github.com/gatelatch/gatelatch/render"
)

const (
	maxName  = 60
	maxInput = 2000
)

// short is a name that somebody gave, safe to show and short. A secret in it is
// masked before it is cut, when it can still be told.
func short(name string) string {
	r := []rune(render.OneLine(redact.Text(name)))
	return strings.TrimSpace(string(r[:min(len(r), maxName)]))
}

// notice puts a message about a call into words. Nothing of the input is in it,
// nor of what the agent or the person said: only names.
func (o *Outbox) notice(m *gatelatch.Message, l gatelatch.Listed) Notice {
	n := Notice{
		ID: m.ID, Thread: gatelatch.NewMessage(gatelatch.AskedMessage, 0, m.Channel, m.Call, m.At, m.At).ID,
		Kind: m.Kind, Round: m.Round, Call: m.Call, At: m.At,
		Tool: short(l.Tool), Agent: short(cmp.Or(l.Session.Name, l.Batch.AgentName)), Risk: RiskOf(l.Call), Link: o.link(m.Call),
	}
	if l.Session.Project != "" {
		n.Project = short(filepath.Base(l.Session.Project))
	}
	task := cmp.Or(n.Project, n.Agent, "an agent")
	switch m.Kind {
	case gatelatch.ReminderMessage:
		n.Title = fmt.Sprintf("Approval Needed: %s (reminder %d)", task, m.Round)
	case gatelatch.SettledMessage:
		n.Title = "No longer waiting: " + task
	default:
		n.Title = "Approval Needed: " + task
	}
	lines := []string{"Tool '" + n.Tool + "' requires approval"}
	if m.Kind == gatelatch.SettledMessage {
		n.Outcome = string(l.State)
		if l.Decided != nil {
			n.By = short(l.Decided.By.String())
		}
		lines[0] = fmt.Sprintf("Tool '%s': %s", n.Tool, outcome(n))
	}
	if n.Agent != "" {
		lines = append(lines, "Agent: "+n.Agent)
	}
	if n.Project != "" {
		lines = append(lines, "Project: "+n.Project)
	}
	lines = append(lines, "Risk: "+string(n.Risk))
	n.Text = strings.Join(lines, "\n")
	return n
}

func outcome(n Notice) string {
	if n.By == "" {
		return n.Outcome
	}
	return n.Outcome + " by " + n.By
}

// input is what a channel that asked for it is shown of a call.
func input(c *gatelatch.Call) string {
	raw, err := strictjson.Compact(c.Input)
	if err != nil {
		return ""
	}
	r := []rune(render.Escape(string(redact.JSON(raw))))
	if len(r) > maxInput {
		return string(r[:maxInput]) + " […]"
	}
	return string(r)
}

func (o *Outbox) link(call string) string {
	base := cmp.Or(o.Public, o.URL)
	if call == "" {
		return base + "/"
	}
	return base + "/#" + call
}

// trial is what tries a channel.
func (o *Outbox) trial(t *Target) Notice {
	name := id.New("try")
	return Notice{
		ID: name, Thread: name, Kind: TestKind, Title: "Gatelatch: a test", At: o.now(),
		Text: "Messages about calls that wait would come by the channel \"" + t.Name + "\".", Link: o.link(""),
	}
}
