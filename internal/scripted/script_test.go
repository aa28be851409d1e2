package scripted_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/toolcell/toolcell/internal/scripted"
)

// conversation returns one whose tools take the languages, with the user's
// words and, turn by turn, the replies to the model's calls.
func conversation(languages, words string, replies ...[]scripted.Reply) *scripted.Conversation {
	c := &scripted.Conversation{Items: []scripted.Item{{User: words}}}
	for _, op := range []string{"run_code", "create_code_context", "run_in_code_context", "delete_code_context"} {
		c.Tools = append(c.Tools, scripted.Definition{
			Name:   "workspace__w__" + op,
			Schema: []byte(`{"properties":{"language":{"enum":[` + languages + `]}}}`),
		})
	}
	for _, r := range replies {
		c.Items = append(c.Items, scripted.Item{Turn: &scripted.Turn{}}, scripted.Item{Replies: r})
	}
	return c
}

func say(texts ...string) []scripted.Reply {
	var list []scripted.Reply
	for _, t := range texts {
		list = append(list, scripted.Reply{Text: t})
	}
	return list
}

// TestScript checks that the script reads what it is told.
func TestScript(t *testing.T) {
	const (
		js, py = `"javascript","typescript"`, `"bash","python"`
		made   = `{"contextId":"c1"}`
		fault  = `{"error":{"code":"invalid_arguments","message":"contextId: required, and missing"}}`
	)
	fridays, sales, collatz := scripted.Tasks()[0], scripted.Tasks()[1], scripted.Tasks()[2]
	for _, tt := range []struct {
		name string
		c    *scripted.Conversation
		text string   // in what it says
		args []string // in the arguments of its calls
	}{
		{"two languages", conversation(js, fridays), "second one", []string{`"language":"javascript"`, `"language":"typescript"`}},
		{"python alone", conversation(py, fridays), "with a program.", []string{"import datetime"}},
		{"no language", conversation(`"cobol"`, fridays), "neither can be run", nil},
		{"the programs agree", conversation(js, fridays, say("ok\n7 in this century", "ok\n7 in this century")), "has 7 of them", nil},
		{"the programs do not", conversation(js, fridays, say("ok\n7 in this century", "ok\n8 in this century")), "do not agree", nil},
		{"the programs fail", conversation(js, fridays, say("error", "error")), "do not agree", nil},
		{"the slip", conversation(js, sales, say(made)), "", []string{`"context_id":"c1"`}},
		{"no context", conversation(js, sales, say(`{"error":{}}`)), "did not get a context", nil},
		{"the slip corrected", conversation(js, sales, say(made), say(fault)), "is called contextId", []string{`"contextId":"c1"`}},
		{"another fault", conversation(js, sales, say(made), say("closed")), "did not expect", nil},
		{"a German number", conversation(js, sales, say(made), say(fault), say("12 rows"), say("Error: row 4 is not a number: '1.204,50'")), "German", []string{"replaceAll"}},
		{"another value", conversation(py, sales, say(made), say(fault), say("12 rows"), say("ValueError: row 4 is not a number: 'n/a'")), `"n/a" cannot be read`, []string{"return 0.0"}},
		{"a traceback", conversation(py, sales, say(made), say(fault), say("12 rows"), say("raise ValueError(f\"row {row} is not a number: '{text}'\")\nValueError: row 4 is not a number: '1.204,50'")), "German", []string{"replace"}},
		{"another error", conversation(py, sales, say(made), say(fault), say("12 rows"), say("MemoryError")), "did not expect", nil},
		{"no rows", conversation(py, sales, say(made), say(fault), say("lost")), "did not load", nil},
		{"the best", conversation(js, sales, say(made), say(fault), say("12 rows"), say(""), say(`sums: {"a":1,"b":3,"c":2}`), []scripted.Reply{{Images: 1}}), "was b with 3.00, ahead of 2 others.", nil},
		{"no chart seen", conversation(js, sales, say(made), say(fault), say("12 rows"), say(""), say(`sums: {"a":1}`), say("error\nx")), "could not see the chart, though: error", nil},
		{"a search without context", conversation(js, collatz), "need the context", nil},
		{"how far", conversation(js, collatz, say("timeout\nnone up to 5"), say("ok\n--- result ---\n9"), say(`{"ok":true}`)), "None up to 9.", nil},
		{"how far, without state", conversation(js, collatz, say("timeout\nnone up to 5\nnone up to 6"), say("ok\n--- result ---\n0"), say(`{"ok":true}`)), "None up to 6.", nil},
		{"after the end", conversation(js, fridays, say("", ""), say("", "")), "where my script ends", nil},
		{"something else", conversation(js, "make tea"), "I am a script", nil},
		{"nothing", &scripted.Conversation{}, "I am a script", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			turn, err := scripted.Script(t.Context(), tt.c)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(turn.Text, tt.text) {
				t.Errorf("says %q, want %q in it", turn.Text, tt.text)
			}
			if len(turn.Calls) != len(tt.args) {
				t.Fatalf("%d calls, want %d", len(turn.Calls), len(tt.args))
			}
			for i, want := range tt.args {
				if !strings.Contains(turn.Calls[i].Args, want) {
					t.Errorf("call %d has %s, want %s in it", i, turn.Calls[i].Args, want)
				}
			}
		})
	}
}

// TestCallIDs checks that no two calls of a conversation have one id.
func TestCallIDs(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range []*scripted.Conversation{
		conversation(`"javascript","typescript"`, scripted.Tasks()[0]),
		conversation(`"javascript","typescript"`, scripted.Tasks()[1]),
		conversation(`"javascript","typescript"`, scripted.Tasks()[1], say(`{"contextId":"c1"}`)),
	} {
		turn, err := scripted.Script(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		for _, call := range turn.Calls {
			if seen[call.ID] {
				t.Errorf("id %s is there twice", call.ID)
			}
			seen[call.ID] = true
		}
	}
}

func TestComplete(t *testing.T) {
	m, err := scripted.Complete(t.Context(), silent, []byte(`[{"type":"function","function":{"name":"f"}}]`), []any{map[string]string{"role": "user", "content": "x"}})
	if err != nil || m.Role != "assistant" || *m.Content != "Done." {
		t.Errorf("%+v, %v", m, err)
	}
	if _, err := scripted.Complete(t.Context(), silent, []byte(`[]`), nil); err == nil {
		t.Error("an empty request is taken")
	}
	fails := func(context.Context, *scripted.Conversation) (scripted.Turn, error) {
		return scripted.Turn{}, io.ErrUnexpectedEOF
	}
	if _, err := scripted.Complete(t.Context(), fails, []byte(`null`), []any{map[string]string{"role": "user", "content": "x"}}); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("error %v", err)
	}
}

// TestClient checks the network that is none.
func TestClient(t *testing.T) {
	ended := make(chan struct{})
	client := scripted.Client(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/stream":
			defer close(ended)
			io.WriteString(w, "one\n")
			<-r.Context().Done()
		case "/panic":
			io.WriteString(w, "half")
			panic(http.ErrAbortHandler)
		case "/empty":
		default:
			w.Header().Set("X", "y")
			w.WriteHeader(http.StatusTeapot)
			io.Copy(w, r.Body)
		}
	}))
	resp, err := client.Post("http://any/echo", "text/plain", strings.NewReader("hello"))
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(resp.Body)
	if err != nil || string(b) != "hello" || resp.Status != "418 I'm a teapot" || resp.Header.Get("X") != "y" {
		t.Errorf("%s %q %v %v", resp.Status, b, resp.Header, err)
	}
	if resp, err = client.Get("http://any/empty"); err != nil || resp.StatusCode != 200 {
		t.Errorf("%+v, %v", resp, err)
	}
	if resp, err = client.Get("http://any/panic"); err != nil {
		t.Fatal(err)
	}
	if b, err := io.ReadAll(resp.Body); string(b) != "half" || !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("read %q, %v from a broken connection", b, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	req, _ := http.NewRequestWithContext(ctx, http.MethodGet, "http://any/stream", nil)
	if resp, err = client.Do(req); err != nil {
		t.Fatal(err)
	}
	buf := make([]byte, 4)
	if _, err := io.ReadFull(resp.Body, buf); err != nil || string(buf) != "one\n" {
		t.Errorf("read %q, %v", buf, err)
	}
	cancel()
	<-ended
	if _, err := io.ReadAll(resp.Body); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v after the request's end", err)
	}
}
