package scripted

import (
	"slices"
	"strconv"
)

var tasks = []task{
	{"How many Fridays that are a 13th does this century have, from 2001 to 2100?", []step{
		{"", "I count them with all the languages that I know, to be sure. They can run at the same time.", (*memory).fridays},
		{`(\d+) in this century`, "This century has $1 of them.", nil},
	}},
	{"These are our sales, as date;region;amount. Which month was the best? Show me a chart.\n" + sales, []step{
		{"", "This takes several steps, so I want a context that keeps the data from one to the next.", func(m *memory) []ToolCall {
			return []ToolCall{m.call("create_code_context", map[string]any{"language": m.language})}
		}},
		{`"contextId":`, "I load the data first.", func(m *memory) []ToolCall { // the slip that models often make with names
			return []ToolCall{m.call("run_in_code_context", map[string]any{"context_id": m.context, "code": m.loader()})}
		}},
		{`invalid_arguments.*contextId`, "The argument is called contextId, it says. Once more.", func(m *memory) []ToolCall {
			return m.runIn(m.loader())
		}},
		{`\d+ rows`, "Now I add up the months. A value that is no number shall stop the program: better that than a wrong sum.",
			func(m *memory) []ToolCall { return m.sum("strict") }},
		{`not a number: '([\d.]+,\d+)'`, `"$1" is a number in the German way, with a comma for the decimals. I read both ways. The data is still in the context.`,
			func(m *memory) []ToolCall { return m.sum("both") }},
		{`sums: \{.*\}`, "And the chart, from the sums that are in the context now.", func(m *memory) []ToolCall {
			return m.runIn(m.program("chart", m.language))
		}},
		{`(?s)best: ([^\n]*).*\[image\]`, "The best month was $1.", nil},
	}},
	{"Is there a number whose Collatz sequence never comes down to 1? Have a quick look.", []step{
		{"", "I can only look for one, and the search has no end. I give it 200 ms.", func(m *memory) []ToolCall {
			return []ToolCall{m.call("run_in_code_context", map[string]any{"contextId": m.context, "code": m.program("collatz", m.language), "timeoutMs": 200})}
		}},
		{`^timeout`, "It was stopped, as it had to be. Its variables are still there: how far did it come?", func(m *memory) []ToolCall {
			return m.runIn("checked")
		}},
		{`(?m)^(\d+)$`, "None up to $1. That is no proof: none is known. I need the context no longer.", func(m *memory) []ToolCall {
			return []ToolCall{m.call("delete_code_context", map[string]any{"contextId": m.context})}
		}},
		{`"ok":true`, "That is as far as a quick look comes.", nil},
	}},
}

const sales = `2026-01-09;north;1180.50
2026-01-21;south;940.00
2026-02-03;north;1312.25
2026-02-17;south;1.204,50
2026-03-05;north;1544.00
2026-03-26;south;1130.75
2026-04-08;north;1490.10
2026-04-22;south;1621.40
2026-05-13;north;1275.00
2026-05-28;south;1388.60
2026-06-11;north;1702.35
2026-06-24;south;1093.20`

func (m *memory) fridays() (calls []ToolCall) {
	for _, l := range []string{"javascript", "typescript", "python"} {
		if slices.Contains(m.languages, l) {
			calls = append(calls, m.call("run_code", map[string]any{"language": l, "code": m.program("fridays", l)}))
		}
	}
	return calls
}

func (m *memory) loader() string {
	return m.program("load", m.language, "{{sales}}", strconv.Quote(sales))
}

// sum adds up the months, with a program that reads a number.
func (m *memory) sum(reader string) []ToolCall {
	return m.runIn(m.program("sum", m.language, "{{convert}}", m.program(reader, m.language)))
}

// runIn is a call that runs a program in the context.
func (m *memory) runIn(code string) []ToolCall {
	return []ToolCall{m.call("run_in_code_context", map[string]any{"contextId": m.context, "code": code})}
}
