package format_test

import (
	"context"
	"fmt"
	"log"

	"github.com/toolcell/toolcell/providers/inmemory"
	"github.com/toolcell/toolcell/tools"
	"github.com/toolcell/toolcell/tools/format"
)

// answers are those to a turn of two calls: a program, and one that is wrong.
func replies() []*tools.Answer {
	ci, err := inmemory.New(nil)
	if err != nil {
		log.Fatal(err)
	}
	defer ci.Close()
	list, err := tools.ForCode("", ci, &tools.Options{Namer: tools.Unprefixed})
	if err != nil {
		log.Fatal(err)
	}
	set, err := tools.NewSet(list, nil)
	if err != nil {
		log.Fatal(err)
	}
	return set.DispatchAll(context.Background(), []tools.Invocation{
		{ID: "call_1", Tool: "run_code", Args: []byte(`{"language":"javascript","code":"6 * 7"}`)},
		{ID: "call_2", Tool: "run_code", Args: []byte(`{"language":"javascript"}`)},
	}, nil)
}

func Example() {
	for _, r := range replies() {
		fmt.Println(r.CallID, r.Failure == nil)
		fmt.Println(r.Text)
	}
	// Output:
	// call_1 true
	// ok
	// --- result ---
	// 42
	//
	// call_2 false
	// {"error":{"code":"invalid_arguments","message":"code: required, and missing. Nothing was run."}}
}

func ExampleOpenAIChat_Results() {
	fmt.Println(string(format.OpenAIChat{}.Results(replies()[0])))
	// Output:
	// [{"role":"tool","tool_call_id":"call_1","content":"ok\n--- result ---\n42\n"}]
}

func ExampleOpenAIResponses_Results() {
	fmt.Println(string(format.OpenAIResponses{}.Results(replies()[0])))
	// Output:
	// [{"type":"function_call_output","call_id":"call_1","output":"ok\n--- result ---\n42\n"}]
}

func ExampleAnthropic_Results() {
	fmt.Println(string(format.Anthropic{}.Results(replies()[0])))
	// Output:
	// {"role":"user","content":[{"type":"tool_result","tool_use_id":"call_1","content":[{"type":"text","text":"ok\n--- result ---\n42\n"}]}]}
}

func ExampleGemini_Results() {
	fmt.Println(string(format.Gemini{}.Results(replies()[0])))
	// Output:
	// {"role":"user","parts":[{"functionResponse":{"id":"call_1","name":"run_code","response":{"output":"ok\n--- result ---\n42\n"}}}]}
}

func ExampleMCP_Result() {
	fmt.Println(string(format.MCP{}.Result(replies()[1])))
	// Output:
	// {"content":[{"type":"text","text":"{\"error\":{\"code\":\"invalid_arguments\",\"message\":\"code: required, and missing. Nothing was run.\"}}"}],"isError":true}
}
