package watch

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/api"
)

// A prompt is a second step: it stands below the call, which stays in sight.
type prompt struct {
	says []Span
	want string // what has to be typed; "" is any text
	may  bool   // be empty
	text string
	done func(text string, now time.Time) []Want
	// other shows another choice, on Tab; nil if there is none.
	other func(now time.Time)
}

// ask opens a prompt, if all that it says can be seen.
func (m *Model) ask(p *prompt, now time.Time) {
	m.prompt, m.since = p, now
	if !m.fits() {
		m.prompt = nil
		m.say("Make this window larger for that, or use the gatelatch command.")
	}
}

func (m *Model) promptSays() []Line { return wrapper{width: m.width, words: true}.wrap(m.prompt.says) }

func (m *Model) fits() bool {
	_, body := m.rows()
	return len(m.promptSays())+2 <= body
}

// promptLines is the prompt with what was typed, of that the last lines.
func (m *Model) promptLines() []Line {
	_, body := m.rows()
	out := m.promptSays()
	typed := wrapper{width: m.width, first: Span{"> ", Bold}, next: Span{"  ", 0}}.wrap([]Span{{m.prompt.text, 0}, {" ", Reverse}})
	return append(out, typed[max(0, len(typed)-(body-1-len(out))):]...)
}

// typed takes a key of a prompt.
func (m *Model) typed(key Key, now time.Time) []Want {
	p := m.prompt
	m.news = nil
	switch key {
	case KeyEscape:
		m.prompt, m.since = nil, now
	case KeyBackspace:
		if r := []rune(p.text); len(r) > 0 {
			p.text = string(r[:len(r)-1])
		}
	case KeyClear:
		p.text = ""
	case KeyTab:
		if p.other != nil {
			p.other(now)
		}
	case KeyPageDown, KeyPageUp:
		m.page(key == KeyPageDown)
	case KeyEnter:
		return m.enter(now)
	default:
		if len([]rune(string(key))) == 1 {
			p.text += string(key)
		}
	}
	return nil
}

func (m *Model) enter(now time.Time) []Want {
	p := m.prompt
	text := strings.TrimSpace(p.text)
	c, ok := m.current()
	switch {
	case !m.armed(now):
		m.since = now
		return nil
	case !ok || m.off(c, act{}) != "":
		m.say(m.off(c, act{}))
		return nil
	case p.want != "" && text != p.want:
		m.say("That is not " + p.want + ". Escape goes back.")
		return nil
	case p.want == "" && !p.may && text == "":
		m.say("Type a text, or press Escape to go back.")
		return nil
	}
	return p.done(text, now)
}

// Paste adds a text to what is being typed. Elsewhere it does nothing.
func (m *Model) Paste(text Pasted) {
	if m.prompt != nil {
		m.prompt.text += strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(string(text))
	}
}

// words asks for a text that goes along with a denial.
func words(says string, d api.Decision) func(*Model, api.Call, time.Time) []Want {
	return func(m *Model, c api.Call, now time.Time) []Want {
		m.ask(&prompt{
			says: []Span{{says, Bold}, {" Enter sends, Escape goes back.", Dim}}, may: d.Interrupt,
			done: func(text string, _ time.Time) []Want {
				d := d
				d.Note = text
				return m.send(c, d)
			},
		}, now)
		return nil
	}
}

var reach = map[gatelatch.Scope]string{
	gatelatch.ForSession: "for this session", gatelatch.ForProject: "in this project", gatelatch.Always: "always",
}

// remember shows the exact rule and asks for a word before it is made.
func remember(scope gatelatch.Scope) func(*Model, api.Call, time.Time) []Want {
	return func(m *Model, c api.Call, now time.Time) []Want {
		i := slices.IndexFunc(c.Remember, func(r api.Remember) bool { return r.Scope == string(scope) })
		if i < 0 {
			m.say("The gateway has nothing to remember for this call.")
			return nil
		}
		r := c.Remember[i]
		if r.Refused != "" {
			m.say("This can't be remembered: " + r.Refused + ".")
			return nil
		}
		offers := r.Offers
		if len(offers) == 0 {
			offers = []api.Offer{{Match: r.Match}}
		}
		m.ask(m.offer(c, scope, offers, 0), now)
		return nil
	}
}

func (m *Model) offer(c api.Call, scope gatelatch.Scope, offers []api.Offer, at int) *prompt {
	o := offers[at]
	word := "y"
	says := []Span{{"Allow, and remember " + reach[scope] + ": ", Bold}, {o.Match, Under}, {"\n", 0}}
	if len(o.Also) > 0 {
		says = append(says, Span{"Also allows: " + strings.Join(o.Also, ", ") + "\n", Close})
	}
	if d, grave := dangerOf(c); grave {
		word = d.word
		says = append(says, Span{d.why + "\n", Grave | Bold})
	}
	says = append(says, Span{"Type " + word + " and Enter to make this rule, Escape goes back.", Dim})
	p := &prompt{want: word, done: func(string, time.Time) []Want {
		return m.send(c, api.Decision{State: allowed, Remember: &api.Terms{Scope: string(scope), Match: o.Match}})
	}}
	if len(offers) > 1 {
		says = append(says, Span{fmt.Sprintf(" Tab shows another one (%d of %d).", at+1, len(offers)), Dim})
		p.other = func(now time.Time) { m.ask(m.offer(c, scope, offers, (at+1)%len(offers)), now) }
	}
	p.says = says
	return p
}

func questionsOf(c api.Call) (out []api.Question) {
	for _, b := range c.Card.Blocks {
		out = append(out, b.Questions...)
	}
	return out
}

// answer asks the questions one after the other, then sends all answers.
func (m *Model) answer(c api.Call, left []api.Question, answers map[string]string, now time.Time) []Want {
	if len(left) == 0 {
		return m.send(c, api.Decision{State: allowed, Answers: answers})
	}
	q := left[0]
	hint := "the number of an option"
	if q.Multi {
		hint = "numbers of options, such as 1 3"
	}
	all := questionsOf(c)
	says := []Span{
		{fmt.Sprintf("Question %d of %d. ", len(all)-len(left)+1, len(all)), Bold},
		{"Give " + hint + ", or your own words. Escape goes back.", Dim},
	}
	m.ask(&prompt{says: says, done: func(text string, now time.Time) []Want {
		answers[q.Key] = chosen(q, text)
		return m.answer(c, left[1:], answers, now)
	}}, now)
	return nil
}

// chosen is the answer as the agent gets it: the options that numbers name, in
// the order of the options, or the words themselves.
func chosen(q api.Question, text string) string {
	var picked []int
	for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == ' ' || r == ',' }) {
		n, err := strconv.Atoi(word)
		if err != nil || n < 1 || n > len(q.Options) {
			return text
		}
		picked = append(picked, n)
	}
	slices.Sort(picked)
	picked = slices.Compact(picked)
	if len(picked) > 1 && !q.Multi {
		return text
	}
	var values []string
	for _, n := range picked {
		values = append(values, q.Options[n-1].Value)
	}
	return strings.Join(values, ", ")
}
