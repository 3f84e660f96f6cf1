package server

import (
	"errors"
	"path/filepath"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/api"
	"github.com/gatelatch/gatelatch/policy/review"
	"github.com/gatelatch/gatelatch/render"
)

// explain judges a call that was made, or one that nobody makes, and shows it
// with what the reasons are about.
func explain(_ *Server, q *request, in api.Explain) (out api.Explained, err error) {
	var c *gatelatch.Call
	var sess *gatelatch.Session
	var v gatelatch.Verdict
	if in.Call != "" {
		var l gatelatch.Listed
		if l, v, err = q.seat.Explain(q.Context(), in.Call); err != nil {
			return out, err
		}
		c, sess = l.Call, l.Session
	} else {
		if c, sess, err = supposed(in); err != nil {
			return out, invalid(err)
		}
		if v, err = q.seat.Suppose(q.Context(), c, sess); err != nil {
			return out, err
		}
	}
	shown := *c
	shown.Verdict = v
	out = api.Explained{
		Verdict: verdict(v, c.Input), Card: render.Call(&shown, nil), Tool: render.OneLine(c.Tool), Project: render.OneLine(sess.Project),
	}
	if out.Card.Blocks == nil {
		out.Card.Blocks = []api.Block{}
	}
	out.Layers = layersOf(out.Verdict)
	return out, nil
}

// supposed makes a call of what a person typed.
func supposed(in api.Explain) (*gatelatch.Call, *gatelatch.Session, error) {
	if in.Tool == "" {
		return nil, nil, errors.New("the name of the tool is empty")
	}
	if in.Project != "" && !filepath.IsAbs(in.Project) {
		return nil, nil, errors.New("the project is an absolute path")
	}
	sess := &gatelatch.Session{ID: "explain", Project: in.Project}
	if in.Mode != "" {
		m, err := gatelatch.ParseMode(in.Mode)
		if err != nil {
			return nil, nil, err
		}
		sess.Chosen = gatelatch.ModeChoice{Mode: m}
	}
	input, err := review.Input(in.Tool, in.Input)
	return &gatelatch.Call{Kind: gatelatch.Permission, Tool: in.Tool, Input: input, Dir: in.Project}, sess, err
}

// layersOf sorts the reasons by who spoke. A layer that has no say in this
// call stands there too: that it was silent is an answer.
func layersOf(v api.Verdict) []api.LayerSaid {
	out := []api.LayerSaid{{Layer: "machine"}, {Layer: "user"}, {Layer: "project"}, {Layer: "grant"}}
	for _, r := range v.Reasons {
		i := 0
		for i < len(out) && out[i].Layer != r.Layer {
			i++
		}
		if i == len(out) {
			out = append(out, api.LayerSaid{Layer: r.Layer})
		}
		l := &out[i]
		l.Reasons = append(l.Reasons, r)
		if l.Effect == "" || stricter(r.Effect, l.Effect) {
			l.Effect = r.Effect
		}
	}
	return out
}

func stricter(a, b string) bool {
	var x, y gatelatch.Effect
	return x.UnmarshalText([]byte(a)) == nil && y.UnmarshalText([]byte(b)) == nil && x < y
}
