package tools_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"

	"github.com/toolcell/toolcell/providers/inmemory"
	"github.com/toolcell/toolcell/tools"
	"github.com/toolcell/toolcell/tools/format"
)

func Example() {
	ci, err := inmemory.NewStateful(nil)
	if err != nil {
		log.Fatal(err)
	}
	defer ci.Close()
	list, err := tools.ForCode("demo", ci, nil)
	if err != nil {
		log.Fatal(err)
	}
	set, err := tools.NewSet(list, nil)
	if err != nil {
		log.Fatal(err)
	}
	definitions, err := format.OpenAIChat{}.Tools(list) // for the request
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(json.Valid(definitions))

	// What the model sends, and what it gets.
	reply := set.Dispatch(context.Background(), "workspace__demo__run_code",
		[]byte(`{"language":"javascript","code":"console.log('six times seven'); 6 * 7"}`),
		&tools.DispatchOptions{ID: "call_1"})
	fmt.Print(reply.Text)
	// Output:
	// true
	// ok
	// --- stdout ---
	// six times seven
	// --- result ---
	// 42
}

func ExampleSet_Dispatch() {
	ci, err := inmemory.New(nil)
	if err != nil {
		log.Fatal(err)
	}
	defer ci.Close()
	list, err := tools.ForCode("demo", ci, nil)
	if err != nil {
		log.Fatal(err)
	}
	set, err := tools.NewSet(list, nil)
	if err != nil {
		log.Fatal(err)
	}
	// All faults are reported together, and nothing runs.
	reply := set.Dispatch(context.Background(), "workspace__demo__run_code",
		[]byte(`{"language":"javascript","Code":"1","timeoutMs":0}`), nil)
	fmt.Println(reply.Failure.Code)
	fmt.Println(reply.Failure.Message)

	// A program that fails is no failure of the call.
	reply = set.Dispatch(context.Background(), "workspace__demo__run_code",
		[]byte(`{"language":"javascript","code":"throw new Error('no')"}`), nil)
	fmt.Println(reply.Failure == nil, reply.Result.Status, reply.Result.ExitCode)
	// Output:
	// invalid_arguments
	// 3 faults: "Code": no such argument; did you mean code?; timeoutMs: need 1 to 600000 milliseconds, got 0; code: required, and missing. Nothing was run.
	// true error 1
}

func ExampleUnprefixed() {
	ci, err := inmemory.NewStateful(nil)
	if err != nil {
		log.Fatal(err)
	}
	defer ci.Close()
	list, err := tools.ForCode("", ci, &tools.Options{Namer: tools.Unprefixed})
	if err != nil {
		log.Fatal(err)
	}
	for _, tool := range list {
		fmt.Println(tool.Name)
	}
	// Output:
	// run_code
	// create_code_context
	// run_in_code_context
	// delete_code_context
}

// A caller reads what was too long for the model.
func ExampleOutputStore_Read() {
	ci, err := inmemory.New(nil)
	if err != nil {
		log.Fatal(err)
	}
	defer ci.Close()
	store := tools.NewOutputStore(nil)
	list, err := tools.ForCode("demo", ci, &tools.Options{Outputs: store, MaxText: 1024})
	if err != nil {
		log.Fatal(err)
	}
	reply := list[0].Invoke(context.Background(), tools.Invocation{
		Args: []byte(`{"language":"javascript","code":"for (let i = 0; i < 1000; i++) console.log('line', i)"}`),
	})
	page, err := store.Read(reply.OutputID, "stdout", 4390, 18)
	fmt.Printf("%t, %q of %d, %v\n", len(reply.Text) < 1200, page.Text, page.Total, err)
	// Output:
	// true, "line 500\nline 501\n" of 8890, <nil>
}
