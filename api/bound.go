package api

// Bound is what an allow is for, besides the input: it is void when one of
// these changed before the call runs.
type Bound struct {
	Files []BoundFile `json:"files,omitempty"`
	// Unbound says that something may change unnoticed: code (it runs code that
	// is not in one file that it names), file (a file can't be read or is too
	// large) or machine (the agent runs on another one).
	Unbound string  `json:"unbound,omitempty"`
	Server  *Server `json:"server,omitempty"`
}

// BoundFile is a file as it was when the call was asked about.
type BoundFile struct {
	Path   string `json:"path"`             // as the call names it
	Real   string `json:"real"`             // links followed
	Sum    string `json:"sum,omitempty"`    // SHA-256 of its content; missing if there is no such file
	Writes bool   `json:"writes,omitempty"` // the call itself replaces it
}

// Server is an MCP server as the agent's settings define it.
type Server struct {
	Name   string `json:"name"`
	Source string `json:"source"` // the file that defines it
	Launch string `json:"launch"` // its command line or address
	Sum    string `json:"sum"`    // SHA-256 of all that is known of it
}
