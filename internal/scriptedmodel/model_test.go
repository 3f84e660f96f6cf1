package scriptedmodel_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gatelatch/gatelatch/internal/scriptedmodel"
)

type object = map[string]any

var prompt = scriptedmodel.Prompt(scriptedmodel.Bash("touch x && ls"), scriptedmodel.Say("done"))

func ask(t *testing.T, m *scriptedmodel.Model, stream bool, messages ...object) string {
	t.Helper()
	body, err := json.Marshal(object{"model": "any", "stream": stream, "messages": messages})
	if err != nil {
		t.Fatal(err)
	}
	rec := httptest.NewRecorder()
	m.ServeHTTP(rec, httptest.NewRequest(http.MethodPost, "/v1/messages?beta=true", strings.NewReader(string(body))))
	b, err := io.ReadAll(rec.Body)
	if err != nil || rec.Code != http.StatusOK {
		t.Fatalf("status %d, %v: %s", rec.Code, err, b)
	}
	return string(b)
}

func user(content any) object      { return object{"role": "user", "content": content} }
func assistant(content any) object { return object{"role": "assistant", "content": content} }

func TestModelTakesTheTurnThatIsDue(t *testing.T) {
	m := new(scriptedmodel.Model)
	if got := ask(t, m, false, user(prompt)); !strings.Contains(got, `"stop_reason":"tool_use"`) || !strings.Contains(got, `touch x`) {
		t.Errorf("first turn: %s", got)
	}
	if got := ask(t, m, false, user(prompt), assistant("…"), user("result")); !strings.Contains(got, `"done"`) {
		t.Errorf("second turn: %s", got)
	}
	if got := ask(t, m, false, user("what is a good title?")); !strings.Contains(got, `"ok"`) {
		t.Errorf("without a script: %s", got)
	}
}

func TestModelGivesTheSameIDToARetryOnly(t *testing.T) {
	m := new(scriptedmodel.Model)
	id := func(messages ...object) string {
		var msg struct {
			Content []struct{ ID string }
		}
		if err := json.Unmarshal([]byte(ask(t, m, false, messages...)), &msg); err != nil {
			t.Fatal(err)
		}
		return msg.Content[0].ID
	}
	first := id(user(prompt))
	if again := id(user(prompt)); again != first {
		t.Errorf("retry got %q, want %q", again, first)
	}
	if later := id(user(prompt), assistant("…"), user(prompt)); later == first {
		t.Error("the same script played twice in a conversation reuses its ids")
	}
}

func TestModelRemembersEachToolResultOnce(t *testing.T) {
	m := new(scriptedmodel.Model)
	result := user([]object{
		{"type": "tool_result", "tool_use_id": "toolu_1", "is_error": true, "content": []object{{"type": "text", "text": "not today"}}},
		{"type": "tool_result", "tool_use_id": "toolu_2", "content": "fine"},
	})
	ask(t, m, true, user(prompt), assistant("…"), result)
	ask(t, m, true, user(prompt), assistant("…"), result, assistant("…"), user("more"))
	want := []scriptedmodel.Result{{ID: "toolu_1", Text: "not today", IsError: true}, {ID: "toolu_2", Text: "fine"}}
	got := m.Results()
	if len(got) != len(want) || got[0] != want[0] || got[1] != want[1] {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestModelStreamsTheWholeMessage(t *testing.T) {
	got := ask(t, new(scriptedmodel.Model), true, user(prompt))
	for _, want := range []string{"event: message_start", `"partial_json"`, `"stop_reason":"tool_use"`, "event: message_stop"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s in %s", want, got)
		}
	}
}
