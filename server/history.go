package server

import (
	"bytes"
	"context"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/api"
	"github.com/gatelatch/gatelatch/render"
)

const (
	historyPart = 50
	historyScan = 5000 // calls looked at for one answer
)

// wanted narrows a history. Empty fields want everything.
type wanted struct {
	agent, session, tool, outcome, by, text string

	after string
	limit int
}

func parseWanted(v url.Values) (w wanted, err error) {
	w.limit = historyPart
	fields := map[string]*string{
		"agent": &w.agent, "session": &w.session, "tool": &w.tool, "outcome": &w.outcome, "by": &w.by, "q": &w.text, "after": &w.after,
	}
	for name, values := range v {
		to, known := fields[name]
		switch {
		case len(values) != 1:
			return w, badQuery(name, "is given twice")
		case known:
			*to = values[0]
		case name == "limit":
			if w.limit, err = strconv.Atoi(values[0]); err != nil || w.limit < 1 || w.limit > 500 {
				return w, badQuery(name, "is a number from 1 to 500")
			}
		default:
			return w, badQuery(name, "is not known")
		}
	}
	if w.by != "" && w.by != "person" && w.by != "rules" {
		return w, badQuery("by", "is person or rules")
	}
	w.text = strings.ToLower(w.text)
	return w, nil
}

func (w *wanted) has(l *gatelatch.Listed) bool {
	person := l.Decided != nil && l.Decided.By.Kind == gatelatch.PersonActor
	switch {
	case w.agent != "" && l.Session.Agent != w.agent,
		w.session != "" && render.OneLine(l.Session.ID) != w.session,
		w.tool != "" && name(l.Tool) != w.tool,
		w.outcome != "" && string(l.State) != w.outcome && (l.Outcome == nil || string(l.Outcome.Kind) != w.outcome),
		w.by != "" && person != (w.by == "person"):
		return false
	}
	return w.text == "" || w.says(l)
}

// says looks for each word somewhere in the call.
func (w *wanted) says(l *gatelatch.Listed) bool {
	var b bytes.Buffer
	b.Write(l.Input)
	for _, s := range []string{l.Tool, l.Dir, l.Session.Project, l.Session.Name, l.Session.Host, l.ID} {
		b.WriteString("\n" + s)
	}
	if d := l.Decided; d != nil {
		b.WriteString("\n" + d.By.String() + "\n" + d.Note)
	}
	for _, r := range l.Verdict.Reasons {
		b.WriteString("\n" + r.Rule + "\n" + r.Source + "\n" + r.Message)
	}
	text := bytes.ToLower(b.Bytes())
	for word := range strings.FieldsSeq(w.text) {
		if !bytes.Contains(text, []byte(word)) {
			return false
		}
	}
	return true
}

// pastCalls lists what is settled and wanted. One answer looks at so many calls
// and no more: whoever wants the rest goes on.
func pastCalls(_ *Server, q *request) (out api.History, err error) {
	w, err := parseWanted(q.URL.Query())
	if err != nil {
		return out, err
	}
	st, err := q.seat.Status(q.Context())
	if err != nil {
		return out, err
	}
	out = api.History{Calls: []api.Call{}, Seq: int64(st.Seq)}
	query := gatelatch.Query{After: w.after, Limit: pastPart}
	size := 0
	for seen := 0; seen < historyScan; {
		page, err := q.seat.List(q.Context(), query)
		if err != nil {
			return out, err
		}
		for i := range page.Calls {
			l := page.Calls[i]
			if w.has(&l) {
				if size += len(l.Input); len(out.Calls) == w.limit || size > listBytes && len(out.Calls) > 0 {
					out.Next = query.After
					return out, nil
				}
				out.Calls = append(out.Calls, q.view(veil(l), false))
			}
			query.After = l.ID
		}
		if !page.More {
			return out, nil
		}
		seen += len(page.Calls)
	}
	out.Next = query.After
	return out, nil
}

const maxFacets = 200

// facets are what occurs in what is kept in mind, the newest first.
func facets(s *Server, q *request) (api.Facets, error) {
	out := api.Facets{Tools: []string{}, Agents: []api.Actor{}, Sessions: []api.Session{}}
	ctx, stop := context.WithTimeout(q.Context(), patience)
	defer stop()
	calls, _, err := s.past.read(ctx, q.base(), q.seat)
	if err != nil {
		return out, err
	}
	sessions, err := q.seat.Sessions(q.Context(), maxSessions)
	if err != nil {
		return out, err
	}
	for i := range calls {
		if tool := name(calls[i].tool); len(out.Tools) < maxFacets && !slices.Contains(out.Tools, tool) {
			out.Tools = append(out.Tools, tool)
		}
	}
	slices.Sort(out.Tools)
	for _, s := range sessions {
		out.Sessions = append(out.Sessions, fromSession(s))
		if !slices.ContainsFunc(out.Agents, func(a api.Actor) bool { return a.ID == s.Agent }) {
			out.Agents = append(out.Agents, api.Actor{Kind: string(gatelatch.AgentActor), ID: s.Agent, Name: render.OneLine(s.Name)})
		}
	}
	return out, nil
}
