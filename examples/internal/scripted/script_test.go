package scripted_test

import (
	"context"
	"io"
	"net/http"
	"reflect"
	"strings"
	"testing"

	"github.com/toolcell/toolcell/examples/internal/scripted"
)

// TestScript checks that the script reads what it is given.
func TestScript(t *testing.T) {
	const (
		js, py = `"javascript","typescript"`, `"bash","python"`
		made   = `{"contextId":"c1"}`
		fault  = `{"error":{"code":"invalid_arguments","message":"contextId: required, and missing"}}`
	)
	fridays, sales := scripted.Tasks()[0], scripted.Tasks()[1]
	for _, tt := range []struct {
		name, languages, words string
		replies                []string // turn by turn, those of one turn separated by "+"
		text                   string   // in what it says
		args                   []string // in the arguments of its calls
	}{
		{"two languages", js, fridays, nil, "", []string{`"language":"javascript"`, `"language":"typescript"`}},
		{"python alone", py, fridays, nil, "", []string{"import datetime"}},
		{"no language", `"cobol"`, fridays, nil, "neither can be run", nil},
		{"the programs agree", js, fridays, []string{"7 in this century+7 in this century"}, "has 7 of them", nil},
		{"the programs do not", js, fridays, []string{"7 in this century+8 in this century"}, "did not expect", nil},
		{"a program fails", js, fridays, []string{"7 in this century+error"}, "did not expect", nil},
		{"the slip", js, sales, []string{made}, "", []string{`"context_id":"c1"`}},
		{"the slip corrected", js, sales, []string{made, fault}, "is called contextId", []string{`"contextId":"c1"`}},
		{"another fault", js, sales, []string{made, "closed"}, "did not expect", nil},
		{"a traceback", py, sales, []string{made, fault, "12 rows", "not a number: '{text}'\nValueError: not a number: '1.204,50'"}, `"1.204,50" is a number in the German way`, []string{"replace"}},
		{"no chart seen", js, sales, []string{made, fault, "12 rows", "not a number: '1,5'", "sums: {}", "best: b"}, "did not expect", nil},
		{"after the end", js, fridays, []string{"", ""}, "where my script ends", nil},
		{"something else", js, "make tea", nil, "I am a script", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := &scripted.Conversation{Items: []scripted.Item{{User: tt.words}}}
			for _, op := range []string{"run_code", "create_code_context", "run_in_code_context"} {
				c.Tools = append(c.Tools, scripted.Definition{Name: "workspace__w__" + op, Schema: []byte(`{"properties":{"language":{"enum":[` + tt.languages + `]}}}`)})
			}
			for _, turn := range tt.replies {
				var replies []scripted.ToolReply
				for text := range strings.SplitSeq(turn, "+") {
					replies = append(replies, scripted.ToolReply{Text: text})
				}
				c.Items = append(c.Items, scripted.Item{Turn: &scripted.Turn{}}, scripted.Item{Replies: replies})
			}
			turn := scripted.Script(t.Context(), c)
			if !strings.Contains(turn.Text, tt.text) || len(turn.Calls) != len(tt.args) {
				t.Fatalf("%d calls, says %q; want %d calls and %q", len(turn.Calls), turn.Text, len(tt.args), tt.text)
			}
			for i, want := range tt.args {
				if !strings.Contains(turn.Calls[i].Args, want) {
					t.Errorf("call %d has %s, want %s in it", i, turn.Calls[i].Args, want)
				}
			}
		})
	}
}

// post sends a body with all the headers that both APIs want, and returns
// status and answer.
func post(t *testing.T, m scripted.Model, path, body string) (int, string) {
	t.Helper()
	r, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, "https://any"+path, strings.NewReader(body))
	r.Header = http.Header{"Authorization": {"Bearer k"}, "X-Api-Key": {"k"}, "Anthropic-Version": {"2023-06-01"}}
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

// TestRead: both APIs give the model the same conversation.
func TestRead(t *testing.T) {
	want := []scripted.Item{
		{User: "hello"},
		{Turn: &scripted.Turn{Text: "I run it.", Calls: []scripted.ToolCall{{ID: "a", Name: "f", Args: "{}"}, {ID: "b", Name: "f", Args: "{}"}}}},
		{Replies: []scripted.ToolReply{{CallID: "b", Text: "2"}, {CallID: "a", Text: "1", Images: 1}}},
	}
	for path, list := range map[string]string{chat: chatCalls + "," + chatAnswers + "," + chatPicture, messages: messageCalls + "," + messageAnswers} {
		var got []scripted.Item
		status, answer := post(t, func(_ context.Context, c *scripted.Conversation) scripted.Turn {
			got = c.Items
			return scripted.Turn{Text: "Done."}
		}, path, `{"messages":[`+list+`]}`)
		if status != http.StatusOK || !strings.Contains(answer, "ne.") || !reflect.DeepEqual(got, want) {
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
		{"no answer", messages, messageCalls, "has no answer"},
		{"no call", messages, messageAnswers, "is no call"},
	} {
		status, answer := post(t, scripted.Script, tt.path, `{"messages":[`+tt.list+`]}`)
		if status != http.StatusBadRequest || !strings.Contains(strings.ReplaceAll(answer, `\"`, `"`), tt.want) {
			t.Errorf("%s at %s: status %d, %s", tt.name, tt.path, status, answer)
		}
	}
}
