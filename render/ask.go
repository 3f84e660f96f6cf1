package render

import (
	"github.com/gatelatch/gatelatch"
)

func questions(_ *gatelatch.Call, in *input) (Card, bool) {
	var asked []struct {
		Question string `json:"question"`
		Header   string `json:"header"`
		Multi    bool   `json:"multiSelect"`
		Options  []struct {
			Label       string `json:"label"`
			Description string `json:"description"`
		} `json:"options"`
	}
	if !in.list("questions", &asked) || len(asked) == 0 {
		return Card{}, false
	}
	b := Block{Kind: "questions"}
	for _, q := range asked {
		if q.Question == "" {
			return Card{}, false // an answer is filed under it
		}
		out := Question{Key: q.Question, Question: Escape(q.Question), Header: OneLine(q.Header), Multi: q.Multi, Options: []Option{}}
		for _, o := range q.Options {
			out.Options = append(out.Options, Option{Value: o.Label, Label: OneLine(o.Label), Description: Escape(o.Description)})
		}
		b.Questions = append(b.Questions, out)
		b.Bytes += len(q.Question)
	}
	return Card{
		Icon: iconAsk, Says: "Asks you " + count(len(asked), "question"), Say: Say{Key: "asks", Count: len(asked)}, Subject: OneLine(asked[0].Question), Blocks: []Block{b},
	}, true
}

func plan(c *gatelatch.Call, in *input) (Card, bool) {
	card := Card{Icon: iconPlan, Says: "Wants to start on a plan", Say: Say{Key: "plan"}, Subject: OneLine(string(compact(c.Input)))}
	text, ok := in.text("plan")
	if !ok {
		card.Blocks = []Block{jsonBlock("", c.Input)}
		for _, f := range in.fields {
			in.shown[f.Name] = true
		}
		return card, true
	}
	card.Subject, card.Blocks = OneLine(firstLine(text)), []Block{textBlock("Plan", text)}
	return card, true
}
