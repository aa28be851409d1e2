package format_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"image"
	"image/png"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/toolcell/toolcell/tools"
	"github.com/toolcell/toolcell/tools/format"
)

var apis = map[string]format.Model{
	"chat": format.OpenAIChat{}, "responses": format.OpenAIResponses{}, "anthropic": format.Anthropic{},
	"gemini": format.Gemini{},
}

// newSet returns a tool that repeats its arguments and one that draws.
func newSet(t *testing.T) *tools.Set {
	t.Helper()
	var picture bytes.Buffer
	if err := png.Encode(&picture, image.NewGray(image.Rect(0, 0, 1, 1))); err != nil {
		t.Fatal(err)
	}
	set, err := tools.NewSet([]tools.Tool{
		{Name: "echo", Invoke: func(_ context.Context, c tools.Invocation) *tools.Answer {
			if !json.Valid(c.Args) || c.Args[0] != '{' {
				return &tools.Answer{Text: "bad", Failure: &tools.Failure{Code: tools.CodeInvalid, Message: "bad"}}
			}
			return &tools.Answer{Text: string(c.Args)}
		}},
		{Name: "draw", Invoke: func(context.Context, tools.Invocation) *tools.Answer {
			return &tools.Answer{Text: "see", Images: []tools.Image{{MIME: "image/png", Data: picture.Bytes()}}}
		}},
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// sameJSON reports whether two texts have the same JSON, in any order of members.
func sameJSON(a, b string) bool {
	var v, w any
	return json.Unmarshal([]byte(a), &v) == nil && json.Unmarshal([]byte(b), &w) == nil && reflect.DeepEqual(v, w)
}

// lines makes a stream of server-sent events.
func lines(events ...string) string { return "data: " + strings.Join(events, "\n\ndata: ") + "\n\n" }

// TestTurns: what the API sends, streamed or whole, becomes the messages to
// append. Pictures are cut to "PNG".
func TestTurns(t *testing.T) {
	for _, tt := range turns {
		t.Run(tt.api+" "+tt.name, func(t *testing.T) {
			said := ""
			reply, err := apis[tt.api].Read(strings.NewReader(tt.body), func(s string) { said += s })
			if err != nil {
				t.Fatal(err)
			}
			turn, err := apis[tt.api].Turn(t.Context(), newSet(t), reply, nil)
			if err != nil {
				t.Fatal(err)
			}
			got := make([]string, 0, len(turn.Messages))
			for _, m := range turn.Messages {
				got = append(got, cutPictures(string(m)))
			}
			if !slices.EqualFunc(got, tt.messages, sameJSON) {
				t.Errorf("messages\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(tt.messages, "\n"))
			}
			if turn.Text != tt.text || said != tt.text || turn.Stop != tt.stop || turn.More != tt.more {
				t.Errorf("said %q, text %q, stop %q, more %v", said, turn.Text, turn.Stop, turn.More)
			}
		})
	}
}

func cutPictures(s string) string {
	for {
		i := strings.Index(s, "iVBOR")
		if i < 0 {
			return s
		}
		s = s[:i] + "PNG" + s[i+strings.IndexByte(s[i:], '"'):]
	}
}

var turns = []struct {
	api, name, body string
	messages        []string
	text, stop      string
	more            bool
}{
	{"chat", "text", `{"id":"x","choices":[{"index":0,"message":{"role":"assistant","content":"Hi","refusal":null,"annotations":[]},"finish_reason":"stop"}]}`,
		[]string{`{"content":"Hi","role":"assistant"}`}, "Hi", "stop", false},
	{"chat", "calls", lines(
		`{"choices":[{"delta":{"role":"assistant","content":"Let "},"finish_reason":null}]}`,
		`{"choices":[{"delta":{"content":"me.","reasoning_content":"Hm"}}]}`,
		`{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","type":"function","extra_content":{"s":1},"function":{"name":"echo","arguments":""}}]}}]}`,
		`{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\"x\":"}}]}}]}`,
		`{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"1}"}},{"index":1,"id":"b","function":{"name":"draw","arguments":"{}"}}]}}]}`,
		`{"choices":[{"delta":{},"finish_reason":"tool_calls"}]}`, `{"choices":[],"usage":{"total_tokens":7}}`, `[DONE]`),
		[]string{
			`{"content":"Let me.","reasoning_content":"Hm","role":"assistant","tool_calls":[{"extra_content":{"s":1},"function":{"arguments":"{\"x\":1}","name":"echo"},"id":"a","type":"function"},{"function":{"arguments":"{}","name":"draw"},"id":"b","type":"function"}]}`,
			`{"role":"tool","tool_call_id":"a","content":"{\"x\":1}"}`, `{"role":"tool","tool_call_id":"b","content":"see"}`,
			`{"role":"user","content":[{"type":"text","text":"Image 1 of the result of draw (call b):"},{"type":"image_url","image_url":{"url":"data:image/png;base64,PNG"}}]}`,
		}, "Let me.", "tool_calls", true},
	{"chat", "faulty calls", lines(
		`{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"no such/tool","arguments":"{\"x\":"}},{"index":1,"id":"b","function":{"name":"echo","arguments":"[1"}}]},"finish_reason":"length"}]}`),
		[]string{
			`{"role":"assistant","tool_calls":[{"function":{"arguments":"{}","name":"no_such_tool"},"id":"a","type":"function"},{"function":{"arguments":"{}","name":"echo"},"id":"b","type":"function"}]}`,
			`{"role":"tool","tool_call_id":"a","content":"{\"error\":{\"code\":\"unknown_tool\",\"message\":\"no tool \\\"no such/tool\\\"; there are echo, draw. Nothing was run.\"}}"}`,
			`{"role":"tool","tool_call_id":"b","content":"bad"}`,
		}, "", "length", true},
	{"responses", "text", `{"output":[{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Hi"}]}],"status":"incomplete","incomplete_details":{"reason":"max_output_tokens"},"error":null}`,
		[]string{`{"content":[{"type":"output_text","text":"Hi"}],"role":"assistant","type":"message"}`}, "Hi", "max_output_tokens", false},
	{"responses", "calls", lines(
		`{"type":"response.created","response":{"status":"in_progress","output":[]}}`,
		`{"type":"response.output_text.delta","delta":"Let me."}`,
		`{"type":"response.output_item.done","item":{"type":"reasoning","id":"r","encrypted_content":"xyz"}}`,
		`{"type":"response.output_item.done","item":{"type":"message","content":[{"type":"output_text","text":"Let me."}]}}`,
		`{"type":"response.output_item.done","item":{"type":"function_call","call_id":"a","name":"draw","arguments":"{}"}}`,
		`{"type":"response.output_item.done","item":{"type":"function_call","call_id":"b","name":"echo","arguments":"{"}}`,
		`{"type":"response.completed","response":{"status":"completed","output":[],"error":null}}`),
		[]string{
			`{"encrypted_content":"xyz","id":"r","type":"reasoning"}`, `{"content":[{"type":"output_text","text":"Let me."}],"type":"message"}`,
			`{"arguments":"{}","call_id":"a","name":"draw","type":"function_call"}`, `{"arguments":"{}","call_id":"b","name":"echo","type":"function_call"}`,
			`{"type":"function_call_output","call_id":"a","output":[{"type":"input_text","text":"see"},{"type":"input_image","image_url":"data:image/png;base64,PNG","detail":"auto"}]}`,
			`{"type":"function_call_output","call_id":"b","output":"bad"}`,
		}, "Let me.", "completed", true},
	{"anthropic", "text", `{"type":"message","role":"assistant","content":[{"type":"text","text":"Hi"},{"type":"text","text":" "}],"stop_reason":"end_turn"}`,
		[]string{`{"content":[{"text":"Hi","type":"text"}],"role":"assistant"}`}, "Hi ", "end_turn", false},
	{"anthropic", "pause", `{"type":"message","content":[{"type":"server_tool_use","id":"s","name":"web_search","input":{"q":1}}],"stop_reason":"pause_turn"}`,
		[]string{`{"content":[{"id":"s","input":{"q":1},"name":"web_search","type":"server_tool_use"}],"role":"assistant"}`}, "", "pause_turn", true},
	{"anthropic", "calls", lines(
		`{"type":"message_start","message":{"role":"assistant","content":[],"usage":{}}}`,
		`{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"Hm."}}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"abc"}}`,
		`{"type":"content_block_stop","index":0}`, `{"type":"ping"}`,
		`{"type":"content_block_start","index":1,"content_block":{"type":"text","text":""}}`,
		`{"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"Let me."}}`,
		`{"type":"content_block_start","index":2,"content_block":{"type":"tool_use","id":"a","name":"draw","input":{}}}`,
		`{"type":"content_block_start","index":3,"content_block":{"type":"tool_use","id":"b","name":"echo","input":{}}}`,
		`{"type":"content_block_delta","index":3,"delta":{"type":"input_json_delta","partial_json":"{\"x\":"}}`,
		`{"type":"content_block_delta","index":3,"delta":{"type":"input_json_delta","partial_json":"1}"}}`,
		`{"type":"content_block_start","index":4,"content_block":{"type":"tool_use","id":"c","name":"echo","input":{}}}`,
		`{"type":"content_block_delta","index":4,"delta":{"type":"input_json_delta","partial_json":"{\"x"}}`,
		`{"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":5}}`, `{"type":"message_stop"}`),
		[]string{
			`{"content":[{"signature":"abc","thinking":"Hm.","type":"thinking"},{"text":"Let me.","type":"text"},{"id":"a","input":{},"name":"draw","type":"tool_use"},{"id":"b","input":{"x":1},"name":"echo","type":"tool_use"},{"id":"c","input":{},"name":"echo","type":"tool_use"}],"role":"assistant"}`,
			`{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":[{"type":"text","text":"see"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"PNG"}}]},{"type":"tool_result","tool_use_id":"b","content":[{"type":"text","text":"{\"x\":1}"}]},{"type":"tool_result","tool_use_id":"c","content":[{"type":"text","text":"bad"}],"is_error":true}]}`,
		}, "Let me.", "tool_use", true},
	{"gemini", "blocked", `{"promptFeedback":{"blockReason":"SAFETY"}}`, []string{}, "", "SAFETY", false},
	{"gemini", "calls", lines(
		`{"candidates":[{"content":{"role":"model","parts":[{"text":"Hm.","thought":true}]}}]}`,
		`{"candidates":[{"content":{"role":"model","parts":[{"text":"Let "}]}}]}`, `{"candidates":[{"content":{"role":"model","parts":[{"text":"me."}]}}]}`,
		`{"candidates":[{"content":{"parts":[{"functionCall":{"name":"draw","args":{}},"thoughtSignature":"abc"},{"functionCall":{"id":"b","name":"echo","args":{"x":1}}}]},"finishReason":"STOP"}],"usageMetadata":{}}`),
		[]string{
			`{"role":"model","parts":[{"text":"Hm.","thought":true},{"text":"Let me."},{"functionCall":{"name":"draw","args":{}},"thoughtSignature":"abc"},{"functionCall":{"id":"b","name":"echo","args":{"x":1}}}]}`,
			`{"role":"user","parts":[{"functionResponse":{"name":"draw","response":{"output":"see"},"parts":[{"inlineData":{"mimeType":"image/png","data":"PNG"}}]}},{"functionResponse":{"id":"b","name":"echo","response":{"output":"{\"x\":1}"}}}]}`,
		}, "Let me.", "STOP", true},
}

// TestOtherServers: streams as servers other than the vendor's write them.
func TestOtherServers(t *testing.T) {
	call := func(index, id, name, args string) string {
		b, _ := json.Marshal(map[string]string{"name": name, "arguments": args})
		return `{` + index + `"id":"` + id + `","function":` + string(b) + `}`
	}
	chunk := func(calls, reason string) string {
		return lines(`{"choices":[{"delta":{"content":null,"tool_calls":[` + calls + `]},"finish_reason":` + reason + `}]}`)
	}
	for _, tt := range []struct {
		name, stream string
		want         []string
	}{
		{"no index, whole calls", chunk(call("", "a", "f", "1")+","+call("", "b", "g", "2"), `"stop"`), []string{"a f 1", "b g 2"}},
		{"no index, in parts", chunk(call("", "a", "f", "1"), "null") + chunk(call("", "", "", "23"), `"tool_calls"`), []string{"a f 123"}},
		{"one index for all", chunk(call(`"index":0,`, "a", "f", "1"), "null") + chunk(call(`"index":0,`, "b", "g", "2"), `"stop"`), []string{"a f 1", "b g 2"}},
		{"no ids", chunk(call(`"index":0,`, "", "f", "1")+","+call(`"index":1,`, "", "g", "2"), `"stop"`), []string{"new f 1", "new g 2"}},
		{"the same id", chunk(call(`"index":0,`, "a", "f", "1")+","+call(`"index":1,`, "a", "g", "2"), `"stop"`), []string{"a f 1", "new g 2"}},
		{"indexes in disorder", chunk(call(`"index":1,`, "b", "g", "2"), "null") + chunk(call(`"index":0,`, "a", "f", "1"), "null") + chunk(call(`"index":1,`, "", "", "3"), `"stop"`), []string{"b g 23", "a f 1"}},
		{"comments and CR LF", ": keep-alive\r\n\r\n" + strings.ReplaceAll(chunk(call("", "a", "f", "1"), `"stop"`), "\n", "\r\n"), []string{"a f 1"}},
		{"no end", strings.TrimSpace(chunk(call("", "a", "f", "1"), `"stop"`)), []string{"a f 1"}},
		{"arguments that are an object", `{"choices":[{"message":{"tool_calls":[{"id":"a","function":{"name":"f","arguments":{"x":1}}}]},"finish_reason":"stop"}]}`, []string{`a f {"x":1}`}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			reply, err := format.OpenAIChat{}.Read(strings.NewReader(tt.stream), nil)
			if err != nil {
				t.Fatal(err)
			}
			turn, err := format.OpenAIChat{}.Turn(t.Context(), newSet(t), reply, nil)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for i, c := range turn.Calls {
				if turn.Answers[i].CallID != c.ID {
					t.Errorf("call %s has the answer to %s", c.ID, turn.Answers[i].CallID)
				}
				if len(c.ID) > 10 {
					c.ID = "new"
				}
				got = append(got, c.ID+" "+c.Tool+" "+string(c.Args))
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("calls %q, want %q", got, tt.want)
			}
		})
	}
}

// TestBroken: an answer that broke off is no turn, and an error of the API is
// reported as one.
func TestBroken(t *testing.T) {
	for _, tt := range []struct{ api, body, want string }{
		{"chat", ``, "incomplete"}, {"chat", lines(`{"choices":[{"delta":{"content":"I thi"}}]}`), "incomplete"},
		{"chat", lines(`{"choices":[{"delta":{"content":"I thi"}}]}`, `[DONE]`), "incomplete"}, {"chat", `{"choi`, "incomplete"},
		{"chat", lines(`{"choi`), "unexpected end"}, {"chat", `{"error":{"type":"invalid_request_error","message":"What?"}}`, "invalid_request_error: What?"},
		{"chat", lines(`{"choices":[{"delta":{"content":"I thi"}}]}`, `{"error":{"code":"overloaded","message":"Later"}}`), "overloaded: Later"},
		{"responses", lines(`{"type":"response.output_text.delta","delta":"I"}`), "incomplete"},
		{"responses", lines(`{"type":"error","code":"rate_limit","message":"Later"}`), "rate_limit: Later"},
		{"responses", lines(`{"type":"response.failed","response":{"error":{"code":"server_error","message":"Oh"}}}`), "server_error: Oh"},
		{"anthropic", lines(`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta"}}`), "incomplete"},
		{"anthropic", lines(`{"type":"message_start","message":{}}`, `{"type":"message_stop"}`), "incomplete"},
		{"anthropic", lines(`{"type":"error","error":{"type":"overloaded_error","message":"Later"}}`), "overloaded_error: Later"},
		{"gemini", `{"error":{"code":429,"status":"RESOURCE_EXHAUSTED","message":"Later"}}`, "RESOURCE_EXHAUSTED: Later"},
		{"gemini", lines(`{"candidates":[{"content":{"parts":[{"text":"I"}]}}]}`), "incomplete"},
	} {
		_, err := apis[tt.api].Read(strings.NewReader(tt.body), nil)
		if err == nil || !strings.Contains(err.Error(), tt.want) || errors.Is(err, format.ErrIncomplete) != (tt.want == "incomplete") {
			t.Errorf("%s %s: %v", tt.api, tt.body, err)
		}
	}
	for name, api := range apis {
		if turn, err := api.Turn(t.Context(), newSet(t), json.RawMessage(`{}`), nil); err == nil {
			t.Errorf("%s: an empty object is the turn %+v", name, turn)
		}
	}
}

// TestLoop: the loop of the package documentation, with a fake server.
func TestLoop(t *testing.T) {
	var requests []string
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if requests = append(requests, string(body)); len(requests) == 1 {
			io.WriteString(w, turns[1].body)
			return
		}
		io.WriteString(w, turns[0].body)
	}))
	defer srv.Close()
	set, model := newSet(t), format.OpenAIChat{}
	conversation := []json.RawMessage{model.User("draw")}
	for more := true; more; {
		request, _ := json.Marshal(map[string]any{"messages": conversation})
		resp, err := http.Post(srv.URL, "application/json", bytes.NewReader(request))
		if err != nil {
			t.Fatal(err)
		}
		reply, err := model.Read(resp.Body, nil)
		resp.Body.Close()
		if err != nil {
			t.Fatal(err)
		}
		turn, err := model.Turn(t.Context(), set, reply, nil)
		if err != nil {
			t.Fatal(err)
		}
		conversation, more = append(conversation, turn.Messages...), turn.More
	}
	if len(requests) != 2 || len(conversation) != 6 {
		t.Errorf("%d requests, %d messages", len(requests), len(conversation))
	}
	typed, err := format.Append([]map[string]any{}, conversation...)
	if err != nil || typed[0]["content"] != "draw" {
		t.Errorf("%v, %v", typed, err)
	}
}

// TestNoSchema: the APIs require a schema, also for a tool without arguments.
func TestNoSchema(t *testing.T) {
	for name, api := range apis {
		if got, err := api.Tools(newSet(t).Tools()); err != nil || strings.Count(string(got), `{"type":"object"}`) != 2 {
			t.Errorf("%s: %s, %v", name, got, err)
		}
	}
}

// FuzzTurn: nothing that a server sends panics.
func FuzzTurn(f *testing.F) {
	for _, tt := range turns {
		f.Add(tt.body)
	}
	set, err := tools.NewSet(nil, nil)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, body string) {
		for _, api := range apis {
			if reply, err := api.Read(strings.NewReader(body), nil); err == nil {
				_, _ = api.Turn(t.Context(), set, reply, nil)
			}
			_, _ = api.Turn(t.Context(), set, json.RawMessage(body), nil)
		}
	})
}
