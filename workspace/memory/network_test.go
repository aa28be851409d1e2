package memory_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/egress"
	"github.com/toolcell/toolcell/providers/inmemory"
	"github.com/toolcell/toolcell/providers/inmemory/fetch"
	"github.com/toolcell/toolcell/workspace"
	"github.com/toolcell/toolcell/workspace/memory"
)

// A workspace has an event for each request of a tool's and of a program's run, without
// the query and the credential, and asks about hosts that no rule allows. A callback that
// panics refuses, and ends nothing.
func TestNetworkEvents(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "hello ", r.Header.Get("Authorization")) }))
	defer srv.Close()
	host := strings.TrimPrefix(srv.URL, "http://")
	rule, err := egress.ParseRule(host)
	if err != nil {
		t.Fatal(err)
	}
	rule.Credential, rule.Insecure = true, true
	var asked []string
	network, err := fetch.New(&egress.Options{
		Policy:  egress.Policy{Mode: egress.Hosts, Rules: []egress.Rule{rule}},
		Secrets: egress.Static{"127.0.0.1": egress.Bearer("reports", "token-0123456789")},
		OnEvent: func(egress.Event) { panic("the host's") },
		Approve: func(_ context.Context, q egress.Question) egress.Answer {
			asked = append(asked, q.Host)
			panic("the host's")
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	ws := open(t, memory.Options{Engines: inmemory.Options{Network: network}})
	var mu sync.Mutex
	var events []workspace.Event
	ws.Subscribe(func(e workspace.Event) {
		mu.Lock()
		defer mu.Unlock()
		if e.Type == workspace.TypeNetwork {
			events = append(events, e)
		}
	}, nil)
	code := fmt.Sprintf(`console.log(await (await fetch("%s/a?secret=1", {method: "POST", body: "12345"})).text()); await fetch("http://evil.test/").catch((e) => console.log(e.cause.message))`, srv.URL)
	args, _ := json.Marshal(map[string]string{"language": "javascript", "code": code})
	if a := ws.Dispatch(t.Context(), "workspace__demo__run_code", args, nil); !strings.Contains(a.Text, "hello Bearer ***") {
		t.Error(a.Text)
	}
	var direct []codeinterp.NetworkEvent
	res, err := ws.Code().RunCode(t.Context(), "javascript", code, &codeinterp.RunOptions{OnNetwork: func(e codeinterp.NetworkEvent) {
		mu.Lock()
		defer mu.Unlock()
		direct = append(direct, e)
	}})
	if out := run(t, res, err); !strings.Contains(out, "evil.test:80 is not a host") {
		t.Error(out)
	}
	mu.Lock()
	defer mu.Unlock()
	if len(events) != 4 || len(direct) != 2 || strings.Join(asked, " ") != "evil.test evil.test" {
		t.Fatalf("%+v %+v %q", events, direct, asked)
	}
	for i, e := range events {
		b, err := json.Marshal(e)
		if err != nil || strings.Contains(string(b), "secret") || strings.Contains(string(b), "token-") {
			t.Errorf("%s %v", b, err)
		}
		n := e.Network
		good := n.Host == "127.0.0.1" && n.Method == "POST" && n.Path == "/a" && n.Allowed && n.Credential == "reports" && n.Status == 200 && n.Sent == 5 && n.Received == 29 && n.Took > 0
		if i%2 == 1 {
			good = n.Host == "evil.test" && n.Port == 80 && !n.Allowed && strings.Contains(n.Reason, "is not a host")
		}
		if !good || (e.Tool == "") != (i >= 2) || e.CallID == "" || !strings.Contains(string(b), `"type":"workspace_network"`) {
			t.Errorf("%s", b)
		}
	}
}
