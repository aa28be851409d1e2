package inmemory_test

import (
	"context"
	"encoding/json"
	"sync/atomic"
	"testing"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/providers/inmemory"
)

// TestForgedCalls: whatever a program makes of names, of what it kept and of the
// built-ins that calls go through, it reaches what its run was given, and gets
// that function's answers.
func TestForgedCalls(t *testing.T) {
	ci, err := inmemory.NewStateful(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer ci.Close()
	var reached atomic.Int32
	secret := codeinterp.Function{Name: "secret", Call: func(context.Context, codeinterp.FunctionCall) (json.RawMessage, error) {
		reached.Add(1)
		return json.RawMessage(`"secret"`), nil
	}}
	given := hostFunctions()[:2]
	other, err := ci.CreateContext(t.Context(), "javascript", &codeinterp.ContextOptions{Functions: []codeinterp.Function{secret}})
	if err != nil {
		t.Fatal(err)
	}
	id, err := ci.CreateContext(t.Context(), "javascript", nil)
	if err != nil {
		t.Fatal(err)
	}
	run := func(id codeinterp.ContextID, code string, f ...codeinterp.Function) string {
		res, err := ci.RunInContext(t.Context(), id, code, &codeinterp.RunOptions{Functions: f})
		if err != nil || !res.OK() {
			t.Errorf("%s: %v, %v", code, res.Error, err)
		}
		return res.Text()
	}
	run(other, "typeof tools.secret")
	run(id, "var kept = tools.secret, keptTools = tools", secret)
	for _, tt := range []struct{ code, want string }{
		{`[typeof tools.secret, tools.constructor === Object, tools.__proto__ === Object.prototype].join()`, "undefined,true,true"},
		{`await kept({}).catch((e) => e.message)`, "secret: the run was given no function of this name"},
		{`await kept.call(keptTools, {}).catch((e) => [keptTools === tools, e.message].join())`, "true,secret: the run was given no function of this name"},
		{`Object.defineProperty(tools.echo, "name", {value: "secret"}); (await tools.echo({a: 1})).a`, "1"},
		{`tools.secret = tools.echo; (await tools.secret({a: 2})).a`, "2"},
		{`(await tools.echo({name: "secret", id: 1, ok: false, then: "x"})).name`, "secret"},
		{`(await tools.echo.call({name: "secret"}, {a: 3})).a`, "3"},
		{`const [a, b] = await Promise.all([tools.fails().catch((e) => e.message), tools.echo({a: 5})]); a + b.a`, "fails: no such city5"},
		{`Promise.prototype.then = () => "forged"; JSON.parse = JSON.stringify = () => "forged"; (await tools.echo({a: 4})).a`, "4"},
	} {
		if got := run(id, "delete tools.secret;"+tt.code, given...); got != tt.want {
			t.Errorf("%s: %s", tt.code, got)
		}
	}
	if n := reached.Load(); n != 0 {
		t.Errorf("the function of others was called %d times", n)
	}
}
