package api

// A Card is one call, ready to show. Every text that an agent wrote is escaped.
type Card struct {
	Icon    string  `json:"icon"`    // term, file, eye, plug, ask or plan
	Says    string  `json:"says"`    // what would happen, in our words
	Subject string  `json:"subject"` // the call in one line
	Blocks  []Block `json:"blocks"`  // the call in full
}

// A Block is one part of the call in full.
type Block struct {
	Kind      string     `json:"kind"` // command, diff, content, json or questions
	Title     string     `json:"title,omitempty"`
	Segments  []Segment  `json:"segments,omitempty"` // command, content, json
	Lines     []Line     `json:"lines,omitempty"`    // diff
	Added     int        `json:"added,omitempty"`
	Removed   int        `json:"removed,omitempty"`
	Bytes     int        `json:"bytes,omitempty"` // of the text before escaping
	Questions []Question `json:"questions,omitempty"`
}

// A Segment is a piece of text; Asked marks what a reason spoke about.
type Segment struct {
	Text  string `json:"text"`
	Asked bool   `json:"asked,omitempty"`
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
