package mcptools_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolcell/toolcell/tools/codemode/mcptools"
)

// A faulty server over HTTP has one tool, whose calls it answers with fine, except for
// those that have an argument go.
type faulty struct {
	t     *testing.T
	fault func(w http.ResponseWriter, id int)

	mu       sync.Mutex
	sessions int
}

// ServeHTTP implements http.Handler.
func (f *faulty) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // who asked has given it up
	}
	var m struct {
		ID     int
		Method string
	}
	if err := json.Unmarshal(body, &m); err != nil {
		f.t.Error(err)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if m.Method == "initialize" {
		f.sessions++
	}
	if m.Method != "server/discover" { // which is asked outside of any session
		w.Header().Set("Mcp-Session-Id", fmt.Sprint(f.sessions))
	}
	switch result := firstResult(body); {
	case m.ID == 0:
		w.WriteHeader(http.StatusAccepted)
	case strings.Contains(string(body), `"go"`):
		f.fault(w, m.ID)
	case result != "":
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, result)
	default:
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%d,"result":{"content":[{"type":"text","text":"fine in %d"}]}}`, m.ID, f.sessions)
	}
}

// TestWebFaults: a call whose answer is none says that it may have been done, and the
// next one is served, by a new session where that one has ended.
func TestWebFaults(t *testing.T) {
	const may = "It may or may not have been done."
	typed := func(kind, format string) func(http.ResponseWriter, int) {
		return func(w http.ResponseWriter, id int) {
			w.Header().Set("Content-Type", kind)
			io.WriteString(w, strings.ReplaceAll(format, "ID", fmt.Sprint(id)))
		}
	}
	for _, tt := range []struct {
		name  string
		fault func(w http.ResponseWriter, id int)
		want  string
		next  string
	}{
		{"no answer", func(http.ResponseWriter, int) { panic(http.ErrAbortHandler) },
			"the server my cannot be reached, or has ended during the call. " + may, "fine in 1"},
		{"elsewhere", func(w http.ResponseWriter, _ int) {
			w.Header().Set("Location", "http://127.0.0.1:1/")
			w.WriteHeader(http.StatusTemporaryRedirect)
		}, "the server my cannot be reached, or has ended during the call. " + may, "fine in 1"},
		{"large header", func(w http.ResponseWriter, _ int) { w.Header().Set("X", strings.Repeat("x", 20<<20)) },
			"the server my cannot be reached, or has ended during the call. " + may, "fine in 1"},
		{"busy", func(w http.ResponseWriter, _ int) { w.WriteHeader(http.StatusBadGateway) },
			"the server my cannot be reached, or has ended during the call. " + may, "fine in 1"},
		{"an error", typed("application/json", `{"jsonrpc":"2.0","id":ID,"error":{"code":-32005,"message":"no more"}}`), "no more", "fine in 1"},
		{"a stream that ends", typed("text/event-stream", "data:\n\n"), "the server my has ended its answer without a result. " + may, "fine in 1"},
		{"no result", typed("application/json", `{"jsonrpc":"2.0","id":ID,"result":{"content":5}}`),
			"the server my has answered with what is no result of a tool. " + may, "fine in 1"},
		{"another's", typed("application/json", `{"jsonrpc":"2.0","id":99999,"result":{"content":[]}}`), "the server has answered with what is no answer to this request. " + may, "fine in 1"},
		{"an odd id", typed("application/json", `{"jsonrpc":"2.0","id":{},"result":{"content":[]}}`), "the server has answered with what is no answer to this request. " + may, "fine in 1"},
		{"a request", typed("application/json", `{"jsonrpc":"2.0","id":ID,"method":"ping"}`), "the server has answered with what is no answer to this request. " + may, "fine in 1"},
		{"an error of no request", typed("application/json", `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"what?"}}`), "what?", "fine in 1"},
		{"no JSON", typed("application/json", "no"), "the server my cannot be reached, or has ended during the call. " + may, "fine in 2"},
		{"no kind of ours", typed("text/html", "<html>"), "the server my cannot be reached, or has ended during the call. " + may, "fine in 2"},
		{"empty data without end", typed("text/event-stream", strings.Repeat("data:\n", 4<<20)), "the server my ", "fine in "},
		{"deep", typed("application/json", `{"jsonrpc":"2.0","id":ID,"result":{"content":[],"structuredContent":`+strings.Repeat("[", 5000)+strings.Repeat("]", 5000)+`}}`),
			"the server my has answered with what is nested too deep (1000 levels are possible), and was ended. " + may, "fine in 2"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			web := httptest.NewServer(&faulty{t: t, fault: tt.fault})
			web.Config.ErrorLog = nil
			t.Cleanup(web.Close)
			set := open(t, &mcptools.Options{Timeout: time.Minute}, mcptools.Server{Name: "my", URL: web.URL})
			if err := callIn(set, time.Minute, `{"go":1}`); err == nil || !strings.HasPrefix(err.Error(), tt.want) || strings.Contains(err.Error(), "rejected") {
				t.Errorf("%v", err)
			}
			for range 2 {
				v, err := valueIn(set, time.Minute, `{}`)
				if err != nil || !strings.HasPrefix(v, `"`+tt.next) {
					t.Errorf("then: %s, %v", v, err)
				}
			}
		})
	}
}
