package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/toolcell/toolcell/examples/internal/screen"
	"github.com/toolcell/toolcell/examples/internal/scripted"
	"github.com/toolcell/toolcell/providers/inmemory"
	"github.com/toolcell/toolcell/workspace"
)

func none(string) string { return "" }

// newAgent returns an agent that talks to a fake server, and what it shows.
func newAgent(t *testing.T, api string, h http.Handler) (*agent, *bytes.Buffer) {
	t.Helper()
	srv := httptest.NewServer(h)
	t.Cleanup(srv.Close)
	ci, err := inmemory.NewStateful(nil)
	if err != nil {
		t.Fatal(err)
	}
	ws, err := workspace.New("agent", workspace.Capabilities{Code: ci}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ws.Close() })
	out := &bytes.Buffer{}
	a := &agent{ws: ws, screen: screen.New(out)}
	c := &config{api: api, url: srv.URL, key: "key", model: "m"}
	if a.model, err = c.newModel(ws.Tools(), a.screen.Note); err != nil {
		t.Fatal(err)
	}
	return a, out
}

func call(id, code string) scripted.ToolCall {
	args, _ := json.Marshal(map[string]string{"language": "javascript", "code": code})
	return scripted.ToolCall{ID: id, Name: "workspace__agent__run_code", Args: string(args)}
}

// TestScript: the whole program, with both APIs.
func TestScript(t *testing.T) {
	for _, api := range []string{"openai", "anthropic"} {
		var out bytes.Buffer
		if err := run(t.Context(), []string{"-api", api}, none, strings.NewReader(""), &out); err != nil {
			t.Fatalf("%v\n%s", err, &out)
		}
		for _, want := range []string{"a script plays the model.", "has 172 of them.", "2026-04 with 3111.50, ahead of 5 others.\n", "None up to "} {
			if !strings.Contains(out.String(), want) {
				t.Errorf("%s: no %q in\n%s", api, want, &out)
			}
		}
	}
}

// TestAsk: without a task it reads tasks, and goes on after one that failed.
func TestAsk(t *testing.T) {
	srv := httptest.NewServer(scripted.Handler(scripted.Script))
	defer srv.Close()
	env := map[string]string{"OPENAI_BASE_URL": srv.URL, "OPENAI_API_KEY": "key", "OPENAI_MODEL": "m"}
	var out bytes.Buffer
	if err := run(t.Context(), nil, func(k string) string { return env[k] }, strings.NewReader("\nmake tea\n"+scripted.Tasks()[0]+"\n"), &out); err != nil {
		t.Fatal(err)
	}
	if s := out.String(); !strings.Contains(s, "I am a script") || !strings.Contains(s, "has 172 of them") {
		t.Errorf("output:\n%s", s)
	}
}

func TestFlags(t *testing.T) {
	for args, want := range map[string]string{
		"-api x": "use openai or anthropic", "-provider moon": "use inmemory",
	} {
		if err := run(t.Context(), strings.Fields(args), none, nil, &bytes.Buffer{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", args, err, want)
		}
	}
}

// TestCancel stops a program; the conversation goes on.
func TestCancel(t *testing.T) {
	var seen *scripted.Conversation
	a, _ := newAgent(t, "anthropic", scripted.Handler(func(_ context.Context, c *scripted.Conversation) scripted.Turn {
		if seen = c; len(c.Items) == 1 {
			return scripted.Turn{Calls: []scripted.ToolCall{call("a", `console.log("begun"); for (;;);`), call("b", "for (;;);")}}
		}
		return scripted.Turn{Text: "Done."}
	}))
	ctx, cancel := context.WithCancel(t.Context())
	defer a.ws.Subscribe(func(e workspace.Event) {
		if e.Type == workspace.TypeOutput {
			cancel()
		}
	}, nil)()
	if err := a.work(ctx, "go"); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	if err := a.work(t.Context(), "go on"); err != nil {
		t.Fatal(err)
	}
	if replies := seen.Items[2].Replies; len(replies) != 2 || !strings.Contains(replies[0].Text, "begun") {
		t.Errorf("the model got %+v", replies)
	}
}

// TestRefusal: what the API answers in place of a turn is the error.
func TestRefusal(t *testing.T) {
	a, _ := newAgent(t, "openai", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "slow down", http.StatusTooManyRequests) }))
	if err := a.work(t.Context(), "go"); err == nil || !strings.Contains(err.Error(), "429 Too Many Requests: slow down") {
		t.Error(err)
	}
}
