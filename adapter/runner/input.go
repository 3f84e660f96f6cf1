package runner

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync"
)

// maxPrompt is the most that is read as one prompt.
const maxPrompt = 8 << 20

// prompt is what the user says at once.
type prompt struct {
	text    string
	message []byte // if it is more than a text
}

// input is all that the user says: a prompt, lines of a terminal, or messages.
type input struct {
	queue chan prompt

	mu    sync.Mutex
	ahead []prompt
}

// input begins to read what the user says.
func (r *Runner) input(a arguments) (*input, error) {
	in := &input{queue: make(chan prompt)}
	if a.prompt != "" {
		in.first(prompt{text: a.prompt})
	}
	switch {
	case a.input == "stream-json":
		go in.lines(r.Stdin, readMessage)
	case r.Terminal && !a.print:
		go in.lines(r.Stdin, func(line string) (prompt, bool) { return prompt{text: line}, strings.TrimSpace(line) != "" })
	case r.Terminal && a.prompt == "":
		return nil, fmt.Errorf("there is no prompt: write it behind --, or on standard input")
	case r.Terminal:
		close(in.queue)
	default:
		raw, err := io.ReadAll(io.LimitReader(r.Stdin, maxPrompt+1))
		if err != nil || len(raw) > maxPrompt {
			return nil, fmt.Errorf("the prompt on standard input can't be read, or is larger than %d MB: %w", maxPrompt>>20, err)
		}
		close(in.queue)
		if err := in.piped(a.prompt, string(raw)); err != nil {
			return nil, err
		}
	}
	return in, nil
}

// piped makes one prompt of an argument and what came on standard input.
func (in *input) piped(arg, piped string) error {
	piped = strings.TrimSpace(piped)
	switch {
	case arg == "" && piped == "":
		return fmt.Errorf("there is no prompt: write it behind --, or on standard input")
	case piped == "":
		return nil
	case arg == "":
		in.first(prompt{text: piped})
	default:
		in.mu.Lock()
		in.ahead[0].text = arg + "\n\n" + piped
		in.mu.Unlock()
	}
	return nil
}

// first puts a prompt before all others.
func (in *input) first(p prompt) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.ahead = append([]prompt{p}, in.ahead...)
}

func (in *input) lines(r io.Reader, read func(string) (prompt, bool)) {
	defer close(in.queue)
	sc := bufio.NewScanner(r)
	sc.Buffer(nil, maxPrompt)
	for sc.Scan() {
		if p, ok := read(sc.Text()); ok {
			in.queue <- p
		}
	}
}

// readMessage lets only what a user says through: how the agent is controlled
// is the host's business.
func readMessage(line string) (p prompt, ok bool) {
	var m struct {
		Type    string `json:"type"`
		Message struct {
			Content json.RawMessage `json:"content"`
		} `json:"message"`
	}
	if json.Unmarshal([]byte(line), &m) != nil || m.Type != "user" {
		return p, false
	}
	if json.Unmarshal(m.Message.Content, &p.text) != nil {
		p.message = []byte(line)
	}
	return p, true
}

// next waits for the next prompt; false is the end.
func (in *input) next(ctx context.Context) (prompt, bool) {
	in.mu.Lock()
	if len(in.ahead) > 0 {
		p := in.ahead[0]
		in.ahead = in.ahead[1:]
		in.mu.Unlock()
		return p, true
	}
	in.mu.Unlock()
	select {
	case p, ok := <-in.queue:
		return p, ok
	case <-ctx.Done():
		return prompt{}, false
	}
}
