package e2e

import (
	"strings"
	"testing"

	"github.com/gatelatch/gatelatch/api"
	"github.com/gatelatch/gatelatch/internal/scriptedmodel"
)

func asking(text, header string, multi bool, labels ...string) map[string]any {
	var options []any
	for _, l := range labels {
		options = append(options, map[string]any{"label": l, "description": "about " + l})
	}
	return map[string]any{"question": text, "header": header, "multiSelect": multi, "options": options}
}

// S7: questions that stand in the terminal are answered elsewhere: one of the
// options, several, or words of one's own.
func TestTerminalQuestionsAreAnsweredElsewhere(t *testing.T) {
	t.Parallel()
	g := startGateway(t, "")
	a := gatedAgent(t, g)
	a.addHooks(lifecycle...)
	d, term := g.desk(), a.terminal()
	ask := scriptedmodel.Call("AskUserQuestion", map[string]any{"questions": []any{
		asking("Which database?", "DB", false, "Postgres", "Mongo"),
		asking("Which parts?", "Parts", true, "Auth", "Logs", "Mail"),
		asking("What name?", "Name", false, "alpha", "beta"),
	}})

	term.say(scriptedmodel.Prompt(ask, scriptedmodel.Say("answered")))
	term.waitFor("Which database?")
	c := d.await("Which database?")
	if c.Kind != "question" || len(d.pending()) != 1 {
		t.Errorf("it is a %s, and %d calls wait", c.Kind, len(d.pending()))
	}
	if _, err := d.client.Decide(t.Context(), c.ID, api.Decision{State: "allowed", Digest: c.Digest, Answers: map[string]string{"Which database?": "Mongo"}}); err == nil {
		t.Error("an answer to one of three questions was taken for all")
	}
	d.decide(c, api.Decision{State: "allowed", Answers: map[string]string{
		"Which database?": "Mongo", "Which parts?": "Auth, Mail", "What name?": "gamma ray",
	}})
	term.waitFor("● answered")
	for _, want := range []string{"Mongo", "Auth, Mail", "gamma ray"} {
		if !strings.Contains(a.results(), want) {
			t.Errorf("the model never saw the answer %q: %s", want, a.results())
		}
	}

	// Refused with words: the agent goes on with them.
	term.say(scriptedmodel.Prompt(ask, scriptedmodel.Say("went on")))
	term.waitFor("Which database?")
	d.decide(d.await("Which database?"), api.Decision{State: "denied", Reply: true, Note: "decide yourself"})
	term.waitFor("● went on")
	a.sawRefusal("decide yourself")
	d.awaitNone()
}

// results is all that the model was told about its calls.
func (a *agent) results() string {
	var texts []string
	for _, r := range a.model.Results() {
		texts = append(texts, r.Text)
	}
	return strings.Join(texts, "\n")
}

// V3, S8: a plan is refused with feedback, then edited and approved with the
// mode that the person picked.
func TestTerminalPlanIsEditedAndApprovedElsewhere(t *testing.T) {
	t.Parallel()
	g := startGateway(t, "")
	a := gatedAgent(t, g)
	a.addHooks(lifecycle...)
	d, term := g.desk(), a.terminalIn("plan")
	write := func(text string) scriptedmodel.Turn {
		return scriptedmodel.Call("Write", map[string]any{"file_path": "${PLAN}", "content": text})
	}
	exit := scriptedmodel.Call("ExitPlanMode", map[string]any{})
	where := map[string]string{"PLAN": `create your plan at (\S+\.md)`}
	term.say(scriptedmodel.PromptWith(where, write("1. everything"), exit, exit, scriptedmodel.Say("plan is through")))
	d.allow(d.awaitTool("Write"))
	d.decide(d.await("1. everything"), api.Decision{State: "denied", Reply: true, Note: "smaller steps"})
	c := d.await("1. everything")
	if c.Kind != "plan" || len(d.pending()) != 1 {
		t.Errorf("it is a %s, and %d calls wait", c.Kind, len(d.pending()))
	}
	c = d.edit(c, strings.Replace(string(c.Input), "everything", "a little", 1))
	d.decide(c, api.Decision{State: "allowed", Mode: "acceptEdits"})
	term.waitFor("● plan is through")
	term.waitFor("accept edits on")
	a.sawRefusal("smaller steps")
	if !strings.Contains(a.results(), "Approved Plan (edited by user):\n1. a little") {
		t.Errorf("the model was told: %s", a.results())
	}
}
