package gatelatch

import (
	"time"
)

// Scope says how far an allow reaches.
type Scope string

// Scopes, from the narrowest. The empty one is Once.
const (
	Once       Scope = "once"
	ForSession Scope = "session"
	ForProject Scope = "project"
	Always     Scope = "always"
)

// Terms are what a person wants to be remembered with an allow: the exact
// matcher, as it was shown or edited, and how long it holds.
type Terms struct {
	Scope Scope         `json:"scope"`
	Match string        `json:"match"`          // in the language of rules: "Bash(git push)"
	For   time.Duration `json:"for,omitempty"`  // 0 is for as long as the scope
	Uses  int           `json:"uses,omitempty"` // 0 is any number
}

func (t *Terms) check() error {
	switch {
	case t.Scope != ForSession && t.Scope != ForProject && t.Scope != Always:
		return invalid("what is remembered is for a session, a project or always, not %q", t.Scope)
	case t.Match == "":
		return invalid("what is remembered needs a matcher")
	case t.For < 0 || t.Uses < 0:
		return invalid("what is remembered can't hold for less than nothing")
	}
	return checkText("matcher", t.Match, maxPath)
}

// A Grant is a remembered allow. It is for the agent that asked, and never
// outlives its scope.
type Grant struct {
	ID      string    `json:"id"`
	Match   string    `json:"match"`
	Scope   Scope     `json:"scope"`
	Agent   string    `json:"agent"`             // id of the key
	Session string    `json:"session,omitempty"` // with ForSession
	Project string    `json:"project,omitempty"` // with ForSession and ForProject: where it was made
	Call    string    `json:"call"`              // the decision that made it
	By      Actor     `json:"by"`
	At      time.Time `json:"at"`
	Until   time.Time `json:"until,omitzero"`
	Uses    int       `json:"uses,omitempty"`   // how often it may be used; 0 is any number
	Server  *Server   `json:"server,omitempty"` // of an MCP tool: the one it was made for

	Used     int       `json:"used"`
	LastUsed time.Time `json:"last_used,omitzero"`

	Revoked   time.Time `json:"revoked,omitzero"`
	RevokedBy *Actor    `json:"revoked_by,omitempty"`

	Version int64 `json:"-"`
}

// Good reports whether the grant may allow anything at t.
func (g *Grant) Good(t time.Time) bool {
	switch {
	case !g.Revoked.IsZero(), !g.Until.IsZero() && !t.Before(g.Until), g.Uses > 0 && g.Used >= g.Uses:
		return false
	}
	return g.Scope == ForSession || g.Scope == ForProject || g.Scope == Always
}

// reaches reports whether the grant is for calls of s.
func (g *Grant) reaches(s *Session) bool {
	if g.Agent == "" || g.Agent != s.Agent {
		return false
	}
	switch g.Scope {
	case ForSession:
		// The project too: an agent may name an old session and another project.
		return g.Session != "" && g.Session == s.ID && g.Project == s.Project
	case ForProject:
		return g.Project != "" && g.Project == s.Project
	case Always:
		return true
	default:
		return false
	}
}

// lastUsedEvery is how often the last use of a grant without a count is noted:
// each note is a write that other gateways have to look at.
const lastUsedEvery = time.Minute

// use counts one allow. It reports whether that has to be saved.
func (g *Grant) use(at time.Time) bool {
	if g.Uses == 0 && g.Used > 0 && at.Sub(g.LastUsed) < lastUsedEvery {
		return false
	}
	g.Used++
	g.LastUsed = at
	return true
}
