package codemode_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"

	"github.com/toolcell/toolcell/providers/inmemory"
	"github.com/toolcell/toolcell/tools"
	"github.com/toolcell/toolcell/tools/codemode"
)

// A model gets one tool, and its program calls what it would have called itself.
func ExampleNew() {
	ci, err := inmemory.New(nil)
	if err != nil {
		log.Fatal(err)
	}
	defer ci.Close()
	weather := tools.Tool{
		Name: "get-weather", Description: "The weather of a city.",
		InputSchema: json.RawMessage(`{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}`),
		Invoke: func(_ context.Context, c tools.Invocation) *tools.Answer {
			return &tools.Answer{Data: json.RawMessage(`{"degrees":7,"wind":"a long report"}`)}
		},
	}
	mode, err := codemode.New(ci, codemode.Entries([]tools.Tool{weather}), nil)
	if err != nil {
		log.Fatal(err)
	}
	answer := mode.Tools()[0].Invoke(context.Background(), tools.Invocation{Args: json.RawMessage(
		`{"language": "javascript", "code": "const w = await tools.get_weather({city: 'Oslo'}); console.log(w.degrees)"}`)})
	fmt.Println(answer.Result.Stdout(), answer.Result.Calls[0].Name)
	// Output:
	// 7
	//  get_weather
}
