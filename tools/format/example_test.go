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
	// [{"content":"ok\n--- result ---\n42\n","role":"tool","tool_call_id":"call_1"}]
}

func ExampleOpenAIResponses_Results() {
	fmt.Println(string(format.OpenAIResponses{}.Results(replies()[0])))
	// Output:
	// [{"call_id":"call_1","output":"ok\n--- result ---\n42\n","type":"function_call_output"}]
}

func ExampleAnthropic_Results() {
	fmt.Println(string(format.Anthropic{}.Results(replies()[0])))
	// Output:
	// {"content":[{"content":[{"text":"ok\n--- result ---\n42\n","type":"text"}],"tool_use_id":"call_1","type":"tool_result"}],"role":"user"}
}

func ExampleGemini_Results() {
	fmt.Println(string(format.Gemini{}.Results(replies()[0])))
	// Output:
	// {"parts":[{"functionResponse":{"id":"call_1","name":"run_code","response":{"output":"ok\n--- result ---\n42\n"}}}],"role":"user"}
}

func ExampleMCP_Result() {
	fmt.Println(string(format.MCP{}.Result(replies()[1])))
	// Output:
	// {"content":[{"text":"{\"error\":{\"code\":\"invalid_arguments\",\"message\":\"code: required, and missing. Nothing was run.\"}}","type":"text"}],"isError":true}
}
