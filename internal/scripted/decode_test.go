package scripted_test

import (
	"context"
	"io"
	"net/http"
	"reflect"
	"strings"
	"testing"

	"github.com/toolcell/toolcell/internal/scripted"
)

func silent(context.Context, *scripted.Conversation) (scripted.Turn, error) {
	return scripted.Turn{Text: "Done."}, nil
}

// post sends a body with all the headers that both APIs want.
func post(t *testing.T, m scripted.Model, path, body string) (int, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://any"+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{
		"Content-Type": "application/json", "Authorization": "Bearer k", "X-Api-Key": "k", "Anthropic-Version": "2023-06-01",
	} {
		r.Header.Set(name, value)
	}
	resp, err := scripted.Client(scripted.Handler(m)).Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(b)
}

const (
	chat     = "/v1/chat/completions"
	messages = "/v1/messages"

	chatCalls = `{"role":"user","content":"hello"},{"role":"assistant","content":"I run it.","tool_calls":[
		{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}},{"id":"b","type":"function","function":{"name":"f","arguments":"{}"}}]}`
	chatAnswers = `{"role":"tool","tool_call_id":"b","content":"2"},{"role":"tool","tool_call_id":"a","content":"1"}`
	chatPicture = `{"role":"user","content":[{"type":"text","text":"Image 1"},{"type":"image_url","image_url":{"url":"data:image/png;base64,AA=="}}]}`

	messageCalls = `{"role":"user","content":"hello"},{"role":"assistant","content":[{"type":"text","text":"I run it."},
		{"type":"tool_use","id":"a","name":"f","input":{}},{"type":"tool_use","id":"b","name":"f","input":{}}]}`
	messageAnswers = `{"role":"user","content":[{"type":"tool_result","tool_use_id":"b","content":"2"},
		{"type":"tool_result","tool_use_id":"a","content":[{"type":"text","text":"1"},{"type":"image","source":{}}]}]}`
)

// TestDecode: both APIs give the model the same conversation.
func TestDecode(t *testing.T) {
	want := []scripted.Item{
		{User: "hello"},
		{Turn: &scripted.Turn{Text: "I run it.", Calls: []scripted.Call{{ID: "a", Name: "f", Args: "{}"}, {ID: "b", Name: "f", Args: "{}"}}}},
		{Replies: []scripted.Reply{{CallID: "b", Text: "2"}, {CallID: "a", Text: "1", Images: 1}}},
	}
	for path, body := range map[string]string{
		chat:     `{"model":"m","messages":[{"role":"system","content":"s"},` + chatCalls + "," + chatAnswers + "," + chatPicture + `]}`,
		messages: `{"model":"m","max_tokens":9,"system":"s","messages":[` + messageCalls + "," + messageAnswers + `]}`,
	} {
		var got scripted.Conversation
		status, answer := post(t, func(_ context.Context, c *scripted.Conversation) (scripted.Turn, error) {
			got = *c
			return scripted.Turn{Text: "Done."}, nil
		}, path, body)
		if status != http.StatusOK || !strings.Contains(answer, "Done.") || got.System != "s" || !reflect.DeepEqual(got.Items, want) {
			t.Errorf("%s: status %d, %s\ngot %+v", path, status, answer, got)
		}
	}
}

// TestOpenCalls: a conversation in which a call has no answer is refused.
func TestOpenCalls(t *testing.T) {
	for _, tt := range []struct{ name, path, list, want string }{
		{"no answer", chat, chatCalls, "has no answer"},
		{"one answer", chat, chatCalls + `,{"role":"tool","tool_call_id":"a","content":"1"}`, `"b" has no answer`},
		{"twice", chat, chatCalls + "," + chatAnswers + `,{"role":"tool","tool_call_id":"a","content":"1"}`, "is no call"},
		{"words between", chat, chatCalls + `,{"role":"user","content":"x"},` + chatAnswers, "has no answer"},
		{"no call", chat, `{"role":"tool","tool_call_id":"a","content":"1"}`, "is no call"},
		{"no answer", messages, messageCalls, "has no answer"},
		{"no call", messages, messageAnswers, "is no call"},
		{"nothing", messages, "", "is empty"},
	} {
		status, answer := post(t, silent, tt.path, `{"model":"m","messages":[`+tt.list+`]}`)
		if status != http.StatusBadRequest || !strings.Contains(strings.ReplaceAll(answer, `\"`, `"`), tt.want) {
			t.Errorf("%s at %s: status %d, %s", tt.name, tt.path, status, answer)
		}
	}
}

func FuzzHandler(f *testing.F) {
	f.Add(`{"model":"m","messages":[` + chatCalls + "," + chatAnswers + "," + chatPicture + `]}`)
	f.Add(`{"model":"m","messages":[` + messageCalls + "," + messageAnswers + `]}`)
	f.Fuzz(func(t *testing.T, body string) {
		for _, path := range []string{chat, messages} {
			if status, answer := post(t, silent, path, body); status != http.StatusOK && status != http.StatusBadRequest {
				t.Errorf("%s: status %d, %s", path, status, answer)
			}
		}
	})
}
