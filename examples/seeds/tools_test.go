//go:build real && linux

package seeds

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/workspace"
	"github.com/toolcell/toolcell/workspace/local"
)

// The four tools of an interpreter with declared languages and contexts.
func Example_tools() {
	capsule, done := capsule(&local.Options{
		Declared: workspace.Declaration{Code: &workspace.CodeDeclaration{Languages: []string{"python"}, Stateful: true}},
	})
	defer done()
	for _, tool := range capsule.Tools() {
		fmt.Println(tool.Name)
	}

	ctx := context.Background()
	call := func(op, args string) string {
		answer := capsule.Dispatch(ctx, "workspace__demo__"+op, json.RawMessage(args), nil)
		if answer.Failure != nil {
			return answer.Failure.Code
		}
		return answer.Text
	}
	var made struct{ ContextID string }
	check(json.Unmarshal([]byte(call("create_code_context", `{"language":"python"}`)), &made))
	run := func(code string) string {
		args := must(json.Marshal(map[string]string{"contextId": made.ContextID, "code": code}))
		return call("run_in_code_context", string(args))
	}
	run("x = 42")
	fmt.Println(run("x * 2"))
	fmt.Println(call("delete_code_context", `{"contextId":"`+made.ContextID+`"}`))

	// A language outside of the declared set does not reach the provider.
	fmt.Println(call("run_code", `{"language":"ruby","code":"1"}`))
	_, contexts := codeinterp.Stateful(codeinterp.Stateless(capsule.Code()))
	fmt.Println("contexts of a stateless view:", contexts)
	// Output:
	// workspace__demo__run_code
	// workspace__demo__create_code_context
	// workspace__demo__run_in_code_context
	// workspace__demo__delete_code_context
	// ok
	// --- result ---
	// 84
	//
	// {"ok":true}
	// unsupported_language
	// contexts of a stateless view: false
}
