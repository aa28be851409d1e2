package mcptools_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/toolcell/toolcell/tools/codemode/mcptools"
)

// listing is a server over HTTP, which answers with each kind of body, whose lists are
// those that page returns.
func listing(t *testing.T, events bool, page func(n int) string) mcptools.Server {
	var pages atomic.Int64
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		var m struct {
			ID     json.RawMessage
			Method string
		}
		json.Unmarshal(body, &m)
		text := firstResult(body)
		switch {
		case r.Method != http.MethodPost:
			w.WriteHeader(http.StatusMethodNotAllowed)
			return
		case m.ID == nil:
			w.WriteHeader(http.StatusAccepted)
			return
		case m.Method == "tools/list":
			text = fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, page(int(pages.Add(1))))
		}
		if events {
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprintf(w, ": x\nevent: message\ndata: %s\n\n", text)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, text)
	}))
	t.Cleanup(web.Close)
	return mcptools.Server{Name: "my", URL: web.URL}
}

// TestMalformedTools: what is no tool is left out of a list, and told; a list that is
// none is told to the model as that.
func TestMalformedTools(t *testing.T) {
	const some = `[null,{"name":"a","inputSchema":{"type":"object"}},{"name":5},7,"x",{"name":"t","inputSchema":"str"}]`
	servers := map[string]func(page string) mcptools.Server{
		"JSON":   func(page string) mcptools.Server { return listing(t, false, func(int) string { return page }) },
		"events": func(page string) mcptools.Server { return listing(t, true, func(int) string { return page }) },
		"stdio": func(page string) mcptools.Server {
			s := stdio("my", "scripted")
			s.Env["MCPTOOLS_LIST"] = page
			return s
		},
	}
	for name, server := range servers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			set := open(t, nil, server(`{"tools":`+some+`}`))
			var got []string
			for _, e := range set.Entries() {
				got = append(got, e.Name+" "+e.Reason)
			}
			if p := set.Problems(); len(p) != 1 || !strings.Contains(p[0].Error(), "4 of its tools are none, and were left out: it is null") {
				t.Errorf("%v", p)
			}
			if text := strings.Join(got, "; "); text != "my_a ; my_t its schema is no object" {
				t.Errorf("%s", text)
			}
			for page, want := range map[string]string{`{"tools":5}`: "the server's tools cannot be listed", `{"tools":[null]}`: "the server has no tools"} {
				set = open(t, nil, server(page))
				if e := set.Entries(); len(e) != 1 || e[0].Reason != want || len(set.Problems()) != 1 {
					t.Errorf("%s: %+v, %v", page, e, set.Problems())
				}
			}
		})
	}
}

// TestEqualTools: a page that brings nothing new is the last one that is asked for, and
// so is one behind very many tools.
func TestEqualTools(t *testing.T) {
	one := `{"name":"t","inputSchema":{"type":"object"}}`
	for _, tt := range []struct {
		name    string
		page    func(n int) string
		want    int // tools
		highest int64
	}{
		{"equal", func(n int) string { return fmt.Sprintf(`{"tools":[%s],"nextCursor":"%d"}`, one, n) }, 1, 2},
		{"none", func(n int) string { return fmt.Sprintf(`{"tools":[],"nextCursor":"%d"}`, n) }, 1, 1}, // what stands for it
		{"few new ones", func(n int) string {
			return fmt.Sprintf(`{"tools":[%s{"name":"t%d","inputSchema":{"type":"object"}}],"nextCursor":"%d"}`, strings.Repeat(one+",", 2000), n, n)
		}, 3, 3},
		{"pages", func(n int) string {
			if n == 60 {
				return `{"tools":[]}`
			}
			return fmt.Sprintf(`{"tools":[{"name":"t%d","inputSchema":{"type":"object"}}],"nextCursor":"%d"}`, n, n)
		}, 59, 60},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var pages atomic.Int64
			set := open(t, &mcptools.Options{StartTimeout: time.Minute}, listing(t, false, func(n int) string {
				pages.Store(int64(n))
				return tt.page(n)
			}))
			if n := len(set.Entries()); n != tt.want || pages.Load() > tt.highest {
				t.Errorf("%d tools of %d pages", n, pages.Load())
			}
			if p := set.Problems(); (len(p) == 0) != (tt.name == "pages") {
				t.Errorf("%v", p)
			}
		})
	}
}
