package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/examples/internal/screen"
	"github.com/toolcell/toolcell/internal/scripted"
	"github.com/toolcell/toolcell/providers/inmemory"
	"github.com/toolcell/toolcell/providers/subprocess"
	"github.com/toolcell/toolcell/workspace"
)

var apis = []string{"openai", "anthropic"}

// A rig is an agent that talks to a fake endpoint.
type rig struct {
	*agent
	ws     *workspace.Workspace
	out    *bytes.Buffer
	slept  []time.Duration
	served int // requests that got as far as the model
	seen   []*scripted.Conversation
}

// newRig starts an endpoint that serves m, with around put around it.
func newRig(t *testing.T, api string, m scripted.Model, around func(http.Handler) http.Handler) *rig {
	t.Helper()
	ci, err := inmemory.NewStateful(nil)
	if err != nil {
		t.Fatal(err)
	}
	return newRigWith(t, ci, api, m, around)
}

func newRigWith(t *testing.T, ci codeinterp.CodeInterpreter, api string, m scripted.Model, around func(http.Handler) http.Handler) *rig {
	t.Helper()
	r := &rig{out: &bytes.Buffer{}}
	var mu sync.Mutex
	h := scripted.Handler(func(ctx context.Context, c *scripted.Conversation) scripted.Turn {
		mu.Lock()
		defer mu.Unlock()
		r.served++
		r.seen = append(r.seen, c)
		return m(ctx, c)
	})
	if around != nil {
		h = around(h)
	}
	srv := httptest.NewServer(h)
	t.Cleanup(srv.Close)
	ws, err := workspace.New("agent", workspace.Capabilities{Code: ci}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ws.Close() })
	s := screen.New(r.out)
	ws.Subscribe(s.Event, nil)
	c := &config{api: api, url: srv.URL, key: "key", model: "m", maxTokens: 100}
	talk, err := c.conversation(ws.Tools(), s.Note)
	if err != nil {
		t.Fatal(err)
	}
	sleep := func(_ context.Context, d time.Duration) error { r.slept = append(r.slept, d); return nil }
	switch talk := talk.(type) {
	case *chat:
		talk.sleep = sleep
	case *messages:
		talk.sleep = sleep
	}
	r.ws = ws
	r.agent = &agent{model: talk, tools: ws, screen: s, maxTurns: 10}
	return r
}

// turns is a model that takes the turns one after the other, then says "Done."
// for ever.
func turns(list ...scripted.Turn) scripted.Model {
	n := 0
	return func(context.Context, *scripted.Conversation) scripted.Turn {
		if n++; n <= len(list) {
			return list[n-1]
		}
		return scripted.Turn{Text: "Done."}
	}
}

func runCall(id, code string) scripted.ToolCall {
	args, err := json.Marshal(map[string]string{"language": "javascript", "code": code})
	if err != nil {
		panic(err)
	}
	return scripted.ToolCall{ID: id, Name: "workspace__agent__run_code", Args: string(args)}
}

// last returns what the model was sent with the last request.
func (r *rig) last() []scripted.Item { return r.seen[len(r.seen)-1].Items }

func TestScript(t *testing.T) {
	for _, args := range [][]string{
		{"-api", "openai"}, {"-api", "anthropic"}, {"-api", "openai", "-strict"}, {"-api", "anthropic", "-strict"},
	} {
		t.Run(strings.Join(args, " "), func(t *testing.T) {
			t.Parallel()
			none := func(string) string { return "" }
			var out bytes.Buffer
			if err := run(t.Context(), args, none, strings.NewReader(""), &out); err != nil {
				t.Fatalf("%v\n%s", err, &out)
			}
			for _, want := range []string{
				"There is no key, so a script plays the model.",
				"This century has 172 of them.",
				"The best month was 2026-04 with 3111.50, ahead of 5 others.\n",
				"None up to ",
			} {
				if !strings.Contains(out.String(), want) {
					t.Errorf("no %q in\n%s", want, &out)
				}
			}
		})
	}
}

// TestProcesses has the same script work in real interpreters, one at a time.
func TestProcesses(t *testing.T) {
	for _, l := range []subprocess.Language{subprocess.Python(), subprocess.JavaScript()} {
		t.Run(l.Name, func(t *testing.T) {
			ci, err := subprocess.NewStateful(&subprocess.Options{Languages: []subprocess.Language{l}})
			if err != nil {
				if os.Getenv("CI") != "" {
					t.Fatal(err)
				}
				t.Skipf("not here: %v", err)
			}
			r := newRigWith(t, ci, "anthropic", scripted.Script, nil)
			for _, task := range scripted.Tasks() {
				if err := r.work(t.Context(), task); err != nil {
					t.Fatal(err)
				}
			}
			for _, want := range []string{
				"has 172 of them", "was 2026-04 with 3111.50, ahead of 5 others.\n", "timeout after", "None up to ", `{"ok":true}`,
			} {
				if !strings.Contains(r.out.String(), want) {
					t.Errorf("no %q in\n%s", want, r.out)
				}
			}
		})
	}
}

func TestUnknownTask(t *testing.T) {
	var out bytes.Buffer
	none := func(string) string { return "" }
	if err := run(t.Context(), []string{"make", "tea"}, none, nil, &out); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), "user  make tea\nmodel I am a script") {
		t.Errorf("output:\n%s", &out)
	}
}

func TestInteractive(t *testing.T) {
	srv := httptest.NewServer(scripted.Handler(scripted.Script))
	defer srv.Close()
	env := map[string]string{"OPENAI_BASE_URL": srv.URL, "OPENAI_API_KEY": "key", "OPENAI_MODEL": "m"}
	in := strings.NewReader(scripted.Tasks()[0] + "\n\nmake tea\n")
	var out bytes.Buffer
	if err := run(t.Context(), nil, func(k string) string { return env[k] }, in, &out); err != nil {
		t.Fatal(err)
	}
	if s := out.String(); !strings.Contains(s, "has 172 of them") || !strings.Contains(s, "I am a script") {
		t.Errorf("output:\n%s", s)
	}
}

// TestCalls has the model make every kind of call in one turn: each is
// answered, and the conversation stays in order.
func TestCalls(t *testing.T) {
	for _, api := range apis {
		t.Run(api, func(t *testing.T) {
			r := newRig(t, api, turns(scripted.Turn{Calls: []scripted.ToolCall{
				runCall("a", "1 + 1"), runCall("b", "1 + 2"),
				{ID: "c", Name: "workspace__agent__run_cod", Args: `{"code":"1"}`},
				{ID: "d", Name: "no such/tool", Args: `{}`},
				{ID: "e", Name: "workspace__agent__run_code", Args: `{"language": "javascript", "code": "1`},
				{ID: "f", Name: "workspace__agent__run_code", Args: ``},
				{ID: "g", Name: "workspace__agent__run_code", Args: `["x"]`},
				runCall("h", `throw new TypeError("no")`),
			}}), nil)
			if err := r.work(t.Context(), "go"); err != nil {
				t.Fatal(err)
			}
			replies := r.last()[len(r.last())-1].Replies
			if len(replies) != 8 {
				t.Fatalf("%d replies, want 8", len(replies))
			}
			for i, want := range []string{
				"--- result ---\n2", "--- result ---\n3", "did you mean workspace__agent__run_code?", "unknown_tool",
				"invalid_arguments", "language: required, and missing", "invalid_arguments", "TypeError: no",
			} {
				if !strings.Contains(replies[i].Text, want) {
					t.Errorf("reply %d is %q, want %q in it", i, replies[i].Text, want)
				}
				if failed := i > 1 && i < 7; api == "anthropic" && replies[i].Failed != failed {
					t.Errorf("reply %d: is_error %v, want %v", i, replies[i].Failed, failed)
				}
			}
		})
	}
}

func TestImages(t *testing.T) {
	for _, api := range apis {
		t.Run(api, func(t *testing.T) {
			r := newRig(t, api, scripted.Script, nil)
			if err := r.work(t.Context(), scripted.Tasks()[1]); err != nil {
				t.Fatal(err)
			}
			images := 0
			for _, it := range r.last() {
				for _, reply := range it.Replies {
					images += reply.Images
				}
			}
			if images != 1 {
				t.Errorf("the model was sent %d images, want 1", images)
			}
		})
	}
}

// TestCancel stops a program, and goes on with the conversation.
func TestCancel(t *testing.T) {
	for _, api := range apis {
		t.Run(api, func(t *testing.T) {
			r := newRig(t, api, turns(scripted.Turn{Text: "Now.", Calls: []scripted.ToolCall{
				runCall("a", `console.log("begun"); for (;;);`), runCall("b", `for (;;);`),
			}}), nil)
			ctx, cancel := context.WithCancel(t.Context())
			defer r.ws.Subscribe(func(e workspace.Event) {
				if e.Type == workspace.TypeOutput {
					cancel()
				}
			}, nil)()
			start := time.Now()
			if err := r.work(ctx, "go"); !errors.Is(err, context.Canceled) {
				t.Errorf("error %v, want the cancellation", err)
			}
			if took := time.Since(start); took > 45*time.Second {
				t.Errorf("it took %v to stop", took)
			}
			if err := r.work(t.Context(), "go on"); err != nil {
				t.Fatal(err)
			}
			replies := r.last()[2].Replies
			if len(replies) != 2 || !strings.Contains(replies[0].Text, "canceled") || !strings.Contains(replies[0].Text, "begun") {
				t.Errorf("the model was told %+v", replies)
			}
		})
	}
}

// TestCancelWhileAsking stops the model's turn, which then never was.
func TestCancelWhileAsking(t *testing.T) {
	for _, api := range apis {
		t.Run(api, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			first := true
			r := newRig(t, api, func(asked context.Context, c *scripted.Conversation) scripted.Turn {
				if first {
					first = false
					cancel()
					<-asked.Done()
				}
				return scripted.Turn{Text: "Done."}
			}, nil)
			if err := r.work(ctx, "go"); !errors.Is(err, context.Canceled) {
				t.Errorf("error %v, want the cancellation", err)
			}
			if err := r.work(t.Context(), "go on"); err != nil {
				t.Fatal(err)
			}
			if n := len(r.slept); n > 0 {
				t.Errorf("it tried %d times again", n)
			}
		})
	}
}

// TestIDsThatComeAgain has a server that counts ids from zero in every turn, and
// a model that repeats a call.
func TestIDsThatComeAgain(t *testing.T) {
	count := scripted.Turn{Calls: []scripted.ToolCall{{ID: "call_0", Name: "workspace__agent__run_code",
		Args: `{"language":"javascript","code":"Math.random()"}`}}}
	r := newRig(t, "openai", turns(count, count), nil)
	if err := r.work(t.Context(), "go"); err != nil {
		t.Fatal(err)
	}
	var texts []string
	for _, item := range r.last() {
		for _, reply := range item.Replies {
			texts = append(texts, reply.Text)
		}
	}
	if len(texts) != 2 || texts[0] == texts[1] {
		t.Errorf("the model was told %q", texts)
	}
}

func TestTooManyTurns(t *testing.T) {
	n := 0
	r := newRig(t, "openai", func(context.Context, *scripted.Conversation) scripted.Turn {
		n++
		return scripted.Turn{Calls: []scripted.ToolCall{runCall("a"+strings.Repeat("x", n), "1")}}
	}, nil)
	if err := r.work(t.Context(), "go"); !errors.Is(err, errTurns) || n != 10 {
		t.Errorf("after %d turns: %v", n, err)
	}
}

func TestCutOff(t *testing.T) {
	for api, reason := range map[string]string{"openai": "length", "anthropic": "max_tokens"} {
		t.Run(api, func(t *testing.T) {
			c := runCall("a", "1 + 1")
			c.Args = c.Args[:len(c.Args)-4]
			r := newRig(t, api, turns(scripted.Turn{Calls: []scripted.ToolCall{c}, Stop: reason}), nil)
			if err := r.work(t.Context(), "go"); err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(r.out.String(), "cut off at the limit") {
				t.Errorf("the user is not told:\n%s", r.out)
			}
			if reply := r.last()[2].Replies[0].Text; !strings.Contains(reply, "invalid_arguments") {
				t.Errorf("the model is told %q", reply)
			}
		})
	}
}

func TestPause(t *testing.T) {
	r := newRig(t, "anthropic", turns(scripted.Turn{Text: "Let me think.", Stop: "pause_turn"}), nil)
	if err := r.work(t.Context(), "go"); err != nil || r.served != 2 {
		t.Errorf("%d requests, %v; want a second one", r.served, err)
	}
}

// whole makes an endpoint that does not stream, whatever it is asked for.
func whole(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body map[string]any
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			http.Error(w, err.Error(), 400)
			return
		}
		delete(body, "stream")
		b, _ := json.Marshal(body)
		r.Body = io.NopCloser(bytes.NewReader(b))
		next.ServeHTTP(w, r)
	})
}

func TestNoStream(t *testing.T) {
	for _, api := range apis {
		t.Run(api, func(t *testing.T) {
			r := newRig(t, api, scripted.Script, whole)
			for _, task := range scripted.Tasks() {
				if err := r.work(t.Context(), task); err != nil {
					t.Fatal(err)
				}
			}
			if !strings.Contains(r.out.String(), "The best month was 2026-04") {
				t.Errorf("output:\n%s", r.out)
			}
		})
	}
}
