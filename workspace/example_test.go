package workspace_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/providers/inmemory"
	"github.com/toolcell/toolcell/workspace"
)

func Example() {
	ci, err := inmemory.NewStateful(nil)
	if err != nil {
		log.Fatal(err)
	}
	ws, err := workspace.New("demo", workspace.Capabilities{Code: ci}, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer ws.Close()
	ws.Subscribe(func(e workspace.Event) {
		if e.Type == workspace.TypeOutput && e.Output.Kind == codeinterp.Stdout {
			fmt.Printf("live: %s", e.Output.Text())
		}
	}, nil)
	ctx := context.Background()
	created := ws.Dispatch(ctx, "workspace__demo__create_code_context", []byte(`{"language":"javascript"}`), nil)
	var c struct{ ContextID string }
	if err := json.Unmarshal(created.JSON(), &c); err != nil {
		log.Fatal(err)
	}
	for _, code := range []string{"let total = 40; console.log('counting'); total", "total + 2"} {
		args, err := json.Marshal(map[string]any{"contextId": c.ContextID, "code": code})
		if err != nil {
			log.Fatal(err)
		}
		reply := ws.Dispatch(ctx, "workspace__demo__run_in_code_context", args, nil)
		fmt.Println(reply.Result.Status, reply.Result.Text())
	}
	// Output:
	// live: counting
	// ok 40
	// ok 42
}

// A declared ability that is missing fails when the workspace is opened.
func ExampleNew_declared() {
	ci, err := inmemory.New(nil)
	if err != nil {
		log.Fatal(err)
	}
	defer ci.Close()
	_, err = workspace.New("demo", workspace.Capabilities{
		Code: ci,
		Declared: workspace.Declaration{
			Code: &workspace.CodeDeclaration{Languages: []string{"python"}, Stateful: true},
		},
	}, nil)
	fmt.Println(err)
	// Output:
	// workspace: declared capability is missing: the interpreter "code" lacks language python (it has javascript); contexts that keep state
}

// A light interpreter stands beside the main one.
func ExampleCapabilities() {
	full, err := inmemory.NewStateful(nil)
	if err != nil {
		log.Fatal(err)
	}
	light, err := inmemory.New(nil)
	if err != nil {
		log.Fatal(err)
	}
	ws, err := workspace.New("demo", workspace.Capabilities{
		Code:   full,
		Beside: map[string]codeinterp.CodeInterpreter{"script": light},
	}, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer ws.Close()
	for _, tool := range ws.Tools() {
		fmt.Println(tool.Name)
	}
	// Output:
	// workspace__demo__run_code
	// workspace__demo__create_code_context
	// workspace__demo__run_in_code_context
	// workspace__demo__delete_code_context
	// workspace__demo__script_run_code
}
