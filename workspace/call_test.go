package workspace_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/providers/inmemory"
	"github.com/toolcell/toolcell/tools"
	"github.com/toolcell/toolcell/tools/secret"
	"github.com/toolcell/toolcell/workspace"
)

// TestCallEvents: each call of a function is an event of its run, scrubbed, with
// those that were refused and those of the context's functions.
func TestCallEvents(t *testing.T) {
	secrets, err := secret.New("hunter2hunter2")
	if err != nil {
		t.Fatal(err)
	}
	ci, err := inmemory.NewStateful(nil)
	if err != nil {
		t.Fatal(err)
	}
	ws := open(t, workspace.Capabilities{Code: ci}, &workspace.Options{Tools: tools.Options{Secrets: secrets}})
	var mu sync.Mutex
	var seen []string
	ws.Subscribe(func(e workspace.Event) {
		mu.Lock()
		defer mu.Unlock()
		b, err := e.MarshalJSON()
		var w struct {
			CallID, ContextID string
			Call              *codeinterp.CallRecord
		}
		if err = errors.Join(err, json.Unmarshal(b, &w)); err != nil || strings.Contains(string(b), "hunter2") {
			t.Errorf("%s, %v", b, err)
		}
		if c := w.Call; c != nil {
			seen = append(seen, fmt.Sprintf("%s %s %d %s %s %s %s", e.Type, w.ContextID, c.Number, c.Name, c.Args, c.Result, c.Error))
			if w.CallID == "" || len(c.Args) > codeinterp.MaxRecorded {
				t.Errorf("%s", b)
			}
		}
	}, nil)
	give := func(name string, v string, err error) codeinterp.Function {
		return codeinterp.Function{Name: name, Call: func(context.Context, codeinterp.FunctionCall) (json.RawMessage, error) {
			return json.RawMessage(v), err
		}}
	}
	s, _ := codeinterp.Stateful(ws.Code())
	id, err := s.CreateContext(t.Context(), "javascript", &codeinterp.ContextOptions{Functions: []codeinterp.Function{give("secret", `"hunter2hunter2"`, nil)}})
	if err != nil {
		t.Fatal(err)
	}
	const code = `const tell = async (f) => { try { await f() } catch {} };
await tools.secret({k: "hunter2hunter2"});
await tell(() => tools.fails({}));
await tell(() => tools.hides({}));
await tell(() => tools.fails([]));
await tell(() => tools.fails({x: "y".repeat(5000)}));`
	res, err := s.RunInContext(t.Context(), id, code, &codeinterp.RunOptions{Functions: []codeinterp.Function{
		give("fails", "", &codeinterp.FunctionError{Message: "not hunter2hunter2"}), give("hides", "", errors.New("/host/secret"))}})
	if err != nil || !res.OK() {
		t.Fatalf("%+v, %v", res, err)
	}
	mu.Lock()
	defer mu.Unlock()
	slices.Sort(seen)
	const c = "workspace_code_call "
	want := []string{
		c + string(id) + ` 1 secret {"k":"[secret]"} "[secret]" `,
		c + string(id) + ` 2 fails {}  not [secret]`,
		c + string(id) + ` 3 hides {}  the function failed`,
		c + string(id) + ` 4 fails []  the arguments are not a JSON object`,
	}
	if len(seen) != 5 || !slices.Equal(seen[:4], want) || !strings.HasPrefix(seen[4], c+string(id)+` 5 fails {"x":"yyy`) {
		t.Errorf("got\n%s", strings.Join(seen, "\n"))
	}
}
