package scripted_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/toolcell/toolcell/internal/scripted"
)

// post sends a body to a fresh Handler and returns the answer.
func post(t *testing.T, m scripted.Model, path, body string, header ...string) (int, string) {
	t.Helper()
	srv := httptest.NewServer(scripted.Handler(m))
	defer srv.Close()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, srv.URL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer key")
	req.Header.Set("X-Api-Key", "key")
	req.Header.Set("Anthropic-Version", "2023-06-01")
	for i := 0; i < len(header); i += 2 {
		req.Header.Del(header[i])
		if header[i+1] != "" {
			req.Header.Set(header[i], header[i+1])
		}
	}
	resp, err := http.DefaultClient.Do(req)
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

func silent(context.Context, *scripted.Conversation) (scripted.Turn, error) {
	return scripted.Turn{Text: "Done."}, nil
}

const (
	png      = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
	user     = `{"role":"user","content":"hello"}`
	chatCall = `{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}},{"id":"b","type":"function","function":{"name":"f","arguments":"{}"}}]}`
	answerA  = `{"role":"tool","tool_call_id":"a","content":"1"}`
	answerB  = `{"role":"tool","tool_call_id":"b","content":"2"}`
	picture  = `{"role":"user","content":[{"type":"text","text":"Image"},{"type":"image_url","image_url":{"url":"data:image/png;base64,` + png + `"}}]}`
	schema   = `{"type":"object","properties":{"x":{"type":"string"}},"required":["x"],"additionalProperties":false}`
)

func chatBody(messages string, more ...string) string {
	return `{"model":"m","messages":[` + messages + `]` + strings.Join(append([]string{""}, more...), ",") + `}`
}

func chatTool(name, parameters string, strict string) string {
	return `{"type":"function","function":{"name":"` + name + `","description":"d","parameters":` + parameters + `,"strict":` + strict + `}}`
}

func TestChatRules(t *testing.T) {
	for _, tt := range []struct{ name, body, refused string }{
		{"plain", chatBody(user), ""},
		{"calls answered in another order", chatBody(user + "," + chatCall + "," + answerB + "," + answerA + "," + picture), ""},
		{"tools", chatBody(user, `"tools":[`+chatTool("f", schema, "true")+`]`), ""},
		{"no JSON", `{`, "body"},
		{"no model", `{"messages":[` + user + `]}`, "model"},
		{"no messages", chatBody(""), "messages is empty"},
		{"unknown key", chatBody(user, `"max_token":1`), "max_token"},
		{"unknown role", chatBody(`{"role":"robot","content":"x"}`), "robot"},
		{"unknown key in a message", chatBody(`{"role":"user","content":"x","text":"y"}`), "text"},
		{"content missing", chatBody(`{"role":"user"}`), "content"},
		{"content empty", chatBody(`{"role":"user","content":[]}`), "content"},
		{"assistant says nothing", chatBody(user + `,{"role":"assistant","content":null}`), "needs content"},
		{"no calls", chatBody(user + `,{"role":"assistant","content":"x","tool_calls":[]}`), "tool_calls is empty"},
		{"user calls", chatBody(`{"role":"user","content":"x","tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}]}`), "cannot have"},
		{"call without arguments", chatBody(user + `,{"role":"assistant","tool_calls":[{"id":"a","type":"function","function":{"name":"f"}}]}`), "arguments is missing"},
		{"arguments are an object", chatBody(user + `,{"role":"assistant","tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":{}}}]}`), "string"},
		{"bad name in a call", chatBody(user + `,{"role":"assistant","tool_calls":[{"id":"a","type":"function","function":{"name":"f g","arguments":"{}"}}]}`), "does not match"},
		{"one answer missing", chatBody(user + "," + chatCall + "," + answerA), "without a tool message right after them: b"},
		{"user before the answers", chatBody(user + "," + chatCall + "," + answerA + "," + user + "," + answerB), "without a tool message right after them: b"},
		{"answer twice", chatBody(user + "," + chatCall + "," + answerA + "," + answerA + "," + answerB), "answers no call"},
		{"answer to nothing", chatBody(user + "," + answerA), "answers no call"},
		{"answer without id", chatBody(user + "," + chatCall + `,{"role":"tool","content":"1"}`), "tool_call_id is missing"},
		{"image in an answer", chatBody(user + "," + chatCall + `,{"role":"tool","tool_call_id":"a","content":[{"type":"image_url","image_url":{"url":"https://x"}}]}`), "cannot be here"},
		{"image of another type", chatBody(`{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/jpeg;base64,` + png + `"}}]}`), "image is image/png"},
		{"image that is SVG", chatBody(`{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/svg+xml;base64,PHN2Zz4="}}]}`), "not possible"},
		{"image that is no base64", chatBody(`{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,!"}}]}`), "base64"},
		{"tools empty", chatBody(user, `"tools":[]`), "1 to 128"},
		{"tool name too long", chatBody(user, `"tools":[`+chatTool(strings.Repeat("f", 65), schema, "false")+`]`), "does not match"},
		{"tool name with a dot", chatBody(user, `"tools":[`+chatTool("a.b", schema, "false")+`]`), "does not match"},
		{"tool twice", chatBody(user, `"tools":[`+chatTool("f", schema, "false")+","+chatTool("f", schema, "false")+`]`), "twice"},
		{"tool without object", chatBody(user, `"tools":[`+chatTool("f", `{"type":"string"}`, "false")+`]`), `"object"`},
		{"strict with optional", chatBody(user, `"tools":[`+chatTool("f", `{"type":"object","properties":{"x":{"type":"string"}},"required":[],"additionalProperties":false}`, "true")+`]`), "not in required"},
		{"strict and open", chatBody(user, `"tools":[`+chatTool("f", `{"type":"object","properties":{}}`, "true")+`]`), "additionalProperties"},
		{"strict with default", chatBody(user, `"tools":[`+chatTool("f", `{"type":"object","properties":{"x":{"type":"string","default":"y"}},"required":["x"],"additionalProperties":false}`, "true")+`]`), "default"},
		{"stream_options without stream", chatBody(user, `"stream_options":{"include_usage":true}`), "stream_options"},
	} {
		t.Run(tt.name, func(t *testing.T) { judge(t, "/v1/chat/completions", tt.body, tt.refused) })
	}
}

// judge checks that a body is served, or refused for the reason given.
func judge(t *testing.T, path, body, refused string) {
	t.Helper()
	status, answer := post(t, silent, path, body)
	if refused == "" {
		if status != http.StatusOK || !strings.Contains(answer, "Done.") {
			t.Errorf("status %d: %s", status, answer)
		}
		return
	}
	var e struct {
		Error struct{ Type, Message string }
	}
	if err := json.Unmarshal([]byte(answer), &e); err != nil {
		t.Fatalf("status %d: %v: %s", status, err, answer)
	}
	if status != http.StatusBadRequest || e.Error.Type != "invalid_request_error" || !strings.Contains(e.Error.Message, refused) {
		t.Errorf("status %d: %s: want 400 with %q", status, answer, refused)
	}
}

const (
	toolUse = `{"role":"assistant","content":[{"type":"text","text":"Well."},{"type":"tool_use","id":"a","name":"f","input":{}},{"type":"tool_use","id":"b","name":"f","input":{"x":1}}]}`
	resultA = `{"type":"tool_result","tool_use_id":"a","content":[{"type":"text","text":"1"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"` + png + `"}}]}`
	resultB = `{"type":"tool_result","tool_use_id":"b","content":"2","is_error":true}`
)

func messagesBody(messages string, more ...string) string {
	return `{"model":"m","max_tokens":10,"messages":[` + messages + `]` + strings.Join(append([]string{""}, more...), ",") + `}`
}

func results(blocks ...string) string {
	return `{"role":"user","content":[` + strings.Join(blocks, ",") + `]}`
}

func messageTool(name, schema, strict string) string {
	return `"tools":[{"name":"` + name + `","description":"d","input_schema":` + schema + `,"strict":` + strict + `}]`
}

func TestMessagesRules(t *testing.T) {
	for _, tt := range []struct{ name, body, refused string }{
		{"plain", messagesBody(user, `"system":"Be brief."`), ""},
		{"results, then words", messagesBody(user + "," + toolUse + "," + results(resultB, resultA, `{"type":"text","text":"go on"}`)), ""},
		{"results in two messages", messagesBody(user + "," + toolUse + "," + results(resultB) + "," + results(resultA)), ""},
		{"thoughts", messagesBody(user + `,{"role":"assistant","content":[{"type":"thinking","thinking":"","signature":"s"},{"type":"text","text":"x"}]},` + user), ""},
		{"tools", messagesBody(user, messageTool(strings.Repeat("f", 128), schema, "true")), ""},
		{"no max_tokens", `{"model":"m","messages":[` + user + `]}`, "max_tokens"},
		{"no model", `{"max_tokens":1,"messages":[` + user + `]}`, "model"},
		{"no messages", messagesBody(""), "messages is empty"},
		{"unknown key", messagesBody(user, `"n":1`), `"n"`},
		{"system as a message", messagesBody(`{"role":"system","content":"x"},` + user), "not the user's"},
		{"assistant first", messagesBody(`{"role":"assistant","content":"x"}`), "not the user's"},
		{"tool role", messagesBody(user + `,{"role":"tool","content":"x"}`), "neither user nor assistant"},
		{"empty text", messagesBody(`{"role":"user","content":[{"type":"text","text":" "}]}`), "text is empty"},
		{"empty content", messagesBody(`{"role":"user","content":[]}`), "content is empty"},
		{"empty text in a result", messagesBody(user + "," + toolUse + "," + results(resultB, `{"type":"tool_result","tool_use_id":"a","content":""}`)), "text is empty"},
		{"result missing", messagesBody(user + "," + toolUse + "," + results(resultA)), "without tool_result right after it: b"},
		{"results missing at the end", messagesBody(user + "," + toolUse), "without tool_result"},
		{"words before results", messagesBody(user + "," + toolUse + "," + results(`{"type":"text","text":"x"}`, resultA, resultB)), "after other content"},
		{"result twice", messagesBody(user + "," + toolUse + "," + results(resultA, resultA, resultB)), "answers no tool_use"},
		{"result of nothing", messagesBody(results(resultA)), "answers no tool_use"},
		{"call by the user", messagesBody(`{"role":"user","content":[{"type":"tool_use","id":"a","name":"f","input":{}}]}`), "cannot come from the user"},
		{"image by the assistant", messagesBody(user + `,{"role":"assistant","content":[{"type":"image","source":{"type":"url","url":"https://x"}}]}`), "cannot come from the assistant"},
		{"input is text", messagesBody(user + `,{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":"{}"}]}`), "object"},
		{"id with a space", messagesBody(user + `,{"role":"assistant","content":[{"type":"tool_use","id":"a b","name":"f","input":{}}]}`), "id"},
		{"id twice", messagesBody(user + `,{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{}},{"type":"tool_use","id":"a","name":"f","input":{}}]}`), "twice"},
		{"image of another type", messagesBody(`{"role":"user","content":[{"type":"image","source":{"type":"base64","media_type":"image/gif","data":"` + png + `"}}]}`), "image is image/png"},
		{"image too large", messagesBody(`{"role":"user","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"` + strings.Repeat("A", 5<<20+4) + `"}}]}`), "larger"},
		{"tool name", messagesBody(user, messageTool("a.b", schema, "false")), "does not match"},
		{"tool name too long", messagesBody(user, messageTool(strings.Repeat("f", 129), schema, "false")), "does not match"},
		{"anyOf at the top", messagesBody(user, messageTool("f", `{"type":"object","anyOf":[]}`, "false")), "anyOf"},
		{"property name", messagesBody(user, messageTool("f", `{"type":"object","properties":{"a b":{}}}`, "false")), "property"},
		{"strict with minimum", messagesBody(user, messageTool("f", `{"type":"object","properties":{"n":{"type":"integer","minimum":1}},"additionalProperties":false}`, "true")), "minimum"},
	} {
		t.Run(tt.name, func(t *testing.T) { judge(t, "/v1/messages", tt.body, tt.refused) })
	}
}

func TestHeaders(t *testing.T) {
	for _, tt := range []struct {
		name, path, header, value string
		status                    int
	}{
		{"openai without a key", "/v1/chat/completions", "Authorization", "", 401},
		{"openai content type", "/v1/chat/completions", "Content-Type", "text/plain", 400},
		{"anthropic version", "/v1/messages", "Anthropic-Version", "", 400},
		{"elsewhere", "/v1/other", "X", "", 404},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if status, body := post(t, silent, tt.path, messagesBody(user), tt.header, tt.value); status != tt.status {
				t.Errorf("status %d, want %d: %s", status, tt.status, body)
			}
		})
	}
	if status, _ := post(t, silent, "/v1/messages", messagesBody(user), "X-Api-Key", "", "Authorization", ""); status != 401 {
		t.Errorf("anthropic without a key: status %d, want 401", status)
	}
}

func FuzzHandler(f *testing.F) {
	f.Add(chatBody(user+","+chatCall+","+answerA+","+answerB+","+picture, `"tools":[`+chatTool("f", schema, "true")+`]`))
	f.Add(messagesBody(user+","+toolUse+","+results(resultB, resultA), messageTool("f", schema, "true")))
	f.Fuzz(func(t *testing.T, body string) {
		for _, path := range []string{"/chat/completions", "/messages"} {
			r := httptest.NewRequest(http.MethodPost, path, strings.NewReader(body))
			r.Header.Set("Content-Type", "application/json")
			r.Header.Set("Authorization", "Bearer key")
			r.Header.Set("Anthropic-Version", "2023-06-01")
			w := httptest.NewRecorder()
			scripted.Handler(silent).ServeHTTP(w, r)
			if s := w.Code; s != 200 && s != 400 {
				t.Errorf("status %d", s)
			}
		}
	})
}
