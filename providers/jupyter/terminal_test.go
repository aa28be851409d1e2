package jupyter_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/gorilla/websocket"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/fakejupyter"
	"github.com/toolcell/toolcell/providers/jupyter"
)

// fakeTerminals serves the API of terminals. The first terminal runs what is sent to it with
// run; the second ends without having run anything, the others confirm what they have run.
type fakeTerminals struct {
	run func(ws *websocket.Conn, mark func(string) string)

	mu      sync.Mutex
	names   map[string]bool // those that were not deleted
	started int
}

func (f *fakeTerminals) serve(w http.ResponseWriter, r *http.Request) bool {
	name := r.URL.Path[strings.LastIndexByte(r.URL.Path, '/')+1:]
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case strings.HasPrefix(r.URL.Path, "/terminals/websocket/"):
		ws, err := new(websocket.Upgrader).Upgrade(w, r, nil)
		if f.started++; err == nil {
			go f.shell(ws, f.started)
		}
	case !strings.HasPrefix(r.URL.Path, "/api/terminals"):
		return false
	case r.Method == http.MethodPost:
		var body struct{ Name string }
		_ = json.NewDecoder(r.Body).Decode(&body)
		f.names[body.Name] = true
		fakejupyter.JSON(w, 200, map[string]string{"name": body.Name})
	case r.Method == http.MethodDelete:
		delete(f.names, name)
		w.WriteHeader(204)
	default:
		fakejupyter.JSON(w, 200, []string{})
	}
	return true
}

func (f *fakeTerminals) shell(ws *websocket.Conn, n int) {
	defer ws.Close()
	for prefix := ""; ; {
		var m []any
		if ws.ReadJSON(&m) != nil {
			return
		}
		text, _ := m[1].(string)
		switch {
		case m[0] != "stdin":
		case prefix == "": // the line that starts the script
			if n == 2 {
				_ = ws.WriteJSON([]any{"disconnect", 1})
				return
			}
			_, secret, _ := strings.Cut(text, `\007" `)
			secret, _, _ = strings.Cut(secret, " ")
			prefix = "\x1b]7777;" + secret + ";"
			_ = ws.WriteJSON([]any{"stdout", "$ " + text + "\r\n" + prefix + "77\a"})
		case n == 1:
			f.run(ws, func(s string) string { return prefix + s + "\a" })
			return
		default:
			_ = ws.WriteJSON([]any{"stdout", prefix + "0\a"})
		}
	}
}

// TestTerminalEnds protects that an end that was not seen is not reported as one, that Close
// ends what could not be ended before, and that marks are no output however they are cut.
func TestTerminalEnds(t *testing.T) {
	for name, c := range map[string]struct {
		run    func(ws *websocket.Conn, mark func(string) string)
		status codeinterp.Status
		exit   int
		failed bool
	}{
		"lost": {func(ws *websocket.Conn, _ func(string) string) {
			_ = ws.WriteJSON([]any{"stdout", "on\x1b]77"})
		}, codeinterp.StatusLost, codeinterp.ExitKilled, true},
		"ended": {func(ws *websocket.Conn, mark func(string) string) {
			all := "on" + mark("ended;3") + "\x1b]77" + mark("clean")
			for i := range len(all) {
				_ = ws.WriteJSON([]any{"stdout", all[i : i+1]})
			}
			_ = ws.WriteJSON([]any{"disconnect", 1})
		}, codeinterp.StatusError, 3, false},
		"not clean": {func(ws *websocket.Conn, mark func(string) string) {
			_ = ws.WriteJSON([]any{"stdout", "on" + mark("ended;0") + "\x1b]77"})
			_ = ws.WriteJSON([]any{"disconnect", 1})
		}, codeinterp.StatusLost, codeinterp.ExitKilled, true},
	} {
		t.Run(name, func(t *testing.T) {
			f := &fakeTerminals{run: c.run, names: map[string]bool{}}
			inFake(t, jupyter.Options{}, func(s *fakejupyter.Server) { s.HTTP = f.serve }, func(r *rig) {
				of, ok := codeinterp.Terminals(r.ci)
				if !ok {
					t.Fatal("no terminals")
				}
				res, err := of.RunTerminal(r.t.Context(), "x", nil)
				if res.Status != c.status || res.ExitCode != c.exit || res.Stdout() != "on\x1b]77" || errors.Is(err, codeinterp.ErrUnavailable) != c.failed {
					t.Errorf("%q: %+v, %v", res.Stdout(), res, err)
				}
			})
			if c.failed && (len(f.names) > 0 || f.started != 3) {
				t.Errorf("terminals left: %v; %d were started", f.names, f.started)
			}
		})
	}
}

// TestNoTerminals protects that a server without the API has no terminals.
func TestNoTerminals(t *testing.T) {
	inFake(t, jupyter.Options{}, nil, func(r *rig) {
		if _, ok := codeinterp.Terminals(r.ci); ok {
			t.Error("terminals")
		}
		if _, ok := codeinterp.Commands(r.ci); !ok {
			t.Error("no commands")
		}
	})
}
