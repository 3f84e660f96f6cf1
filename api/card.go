package api

// A Card is one call, ready to show. Every text that an agent wrote is escaped.
type Card struct {
	Icon    string  `json:"icon"`    // term, file, eye, plug, ask or plan
	Says    string  `json:"says"`    // what would happen, in our words
	Subject string  `json:"subject"` // the call in one line
	Blocks  []Block `json:"blocks"`  // the call in full
	// Say is Says for other languages.
	Say Say `json:"say,omitzero"`
	// Touches is what it does to what, as policy read it; if they are missing, nobody knows.
	Touches []Touch `json:"touches,omitempty"`
	More    int     `json:"more,omitempty"` // touches that are not listed
}

// A Say is a sentence of ours: which one, and what stands in its gaps.
type Say struct {
	Key     string `json:"key"`
	What    string `json:"what,omitempty"`
	On      string `json:"on,omitempty"`
	Count   int    `json:"count,omitempty"`
	Added   int    `json:"added,omitempty"`
	Removed int    `json:"removed,omitempty"`
}

// A Touch is one thing that a call does, or may do, to something.
type Touch struct {
	Does    string `json:"does"`           // read, write, delete, exec, net, secret, unknown, …
	What    string `json:"what,omitempty"` // a file, a host, a program; missing is not known
	Outside bool   `json:"outside,omitempty"`
	Secret  bool   `json:"secret,omitempty"`
	Below   bool   `json:"below,omitempty"` // files in what
	Part    int    `json:"part,omitempty"`  // of the command, from 1
}

// A Block is one part of the call in full.
type Block struct {
	Kind      string     `json:"kind"` // command, diff, content, json, form or questions
	Title     string     `json:"title,omitempty"`
	Segments  []Segment  `json:"segments,omitempty"` // command, content, json
	Lines     []Line     `json:"lines,omitempty"`    // diff
	Added     int        `json:"added,omitempty"`
	Removed   int        `json:"removed,omitempty"`
	Bytes     int        `json:"bytes,omitempty"` // of the text before escaping
	Questions []Question `json:"questions,omitempty"`
	Fields    []Field    `json:"fields,omitempty"` // form
	// Note says what the text was compared with: file or cell, as it is now, or
	// why with none: new, gone, changed, many or every. Missing is not known.
	Note   string `json:"note,omitempty"`
	Places int    `json:"places,omitempty"` // where the replaced text stands in the file, if several
}

// A Field is one field of an input that is shown as a form.
type Field struct {
	Name string `json:"name"`
	Kind string `json:"kind"` // text, number, word or json
	Text string `json:"text"`
}

// A Segment is a piece of text; Asked marks what a reason spoke about.
type Segment struct {
	Text  string `json:"text"`
	Asked bool   `json:"asked,omitempty"`
	Role  string `json:"role,omitempty"` // prog, opt, word or op
	Part  int    `json:"part,omitempty"` // of the command, from 1
}

// A Line is one line of a diff.
type Line struct {
	Op   string `json:"op"`            // " ", "+" or "-"
	Old  int    `json:"old,omitempty"` // line numbers within the replaced text, from 1
	New  int    `json:"new,omitempty"`
	Text string `json:"text"`
}

// A Question is one question of an agent, with its options.
type Question struct {
	Key      string   `json:"key"` // the exact text: what the answer is filed under
	Question string   `json:"question"`
	Header   string   `json:"header,omitempty"`
	Multi    bool     `json:"multi,omitempty"`
	Options  []Option `json:"options"`
}

// An Option is one answer the agent offers.
type Option struct {
	Value       string `json:"value"` // the exact label: what the answer says
	Label       string `json:"label"`
	Description string `json:"description,omitempty"`
}
