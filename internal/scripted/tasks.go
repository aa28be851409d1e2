package scripted

import (
	"embed"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

//go:embed programs
var programs embed.FS

// program returns a program of ours, with its blanks filled in.
func program(name, language string, fill ...string) string {
	ext := map[string]string{"javascript": ".js", "typescript": ".ts", "python": ".py"}[language]
	b, err := programs.ReadFile("programs/" + name + ext)
	if err != nil {
		panic(err)
	}
	return strings.NewReplacer(fill...).Replace(strings.TrimSpace(string(b)))
}

func tasks() []task {
	return []task{
		{"How many Fridays that are a 13th does this century have, from 2001 to 2100?",
			[]func(*memory) Turn{countFridays, tellFridays}},
		{"These are our sales, as date;region;amount. Which month was the best? Show me a chart.\n" + sales,
			[]func(*memory) Turn{openContext, loadBadly, load, sum, sumAgain, chart, tellBest}},
		{"Is there a number whose Collatz sequence never comes down to 1? Have a quick look.",
			[]func(*memory) Turn{search, askHowFar, cleanUp, tellCollatz}},
	}
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

// countFridays asks two programs at once, to be sure.
func countFridays(m *memory) Turn {
	t := Turn{Text: "I count them with a program, and with a second one in another way to be sure. Both can run at the same time."}
	for _, l := range []string{"javascript", "typescript", "python"} {
		if len(t.Calls) < 2 && slices.Contains(m.languages(), l) {
			t.Calls = append(t.Calls, m.call("run_code", map[string]any{"language": l, "code": program("fridays", l)}))
		}
	}
	if len(t.Calls) < 2 {
		t.Text = "I count them with a program."
	}
	return t
}

func tellFridays(m *memory) Turn {
	counts := map[string]bool{}
	for _, r := range m.replies[0] {
		counts[find(r.Text, `(\d+) in this century`)] = true
	}
	if n, ok := only(counts); ok {
		return Turn{Text: "This century has " + n + " of them."}
	}
	return Turn{Text: fmt.Sprintf("My programs do not agree, so I cannot tell you:\n%s", m.last())}
}

func openContext(m *memory) Turn {
	if m.tool("create_code_context") == "" {
		return Turn{Text: "This takes several steps, and nothing here keeps data from one step to the next."}
	}
	return Turn{
		Text:  "This takes several steps, so I want a context that keeps the data from one to the next.",
		Calls: []Call{m.call("create_code_context", map[string]any{"language": m.language})},
	}
}

// loadBadly makes the slip that models often make with names.
func loadBadly(m *memory) Turn {
	if m.context == "" {
		return Turn{Text: "I did not get a context: " + m.last()}
	}
	return Turn{
		Text:  "I load the data first.",
		Calls: []Call{m.call("run_in_code_context", map[string]any{"context_id": m.context, "code": m.loader()})},
	}
}

// load reads what was wrong with the call before.
func load(m *memory) Turn {
	if !strings.Contains(m.last(), "invalid_arguments") || !strings.Contains(m.last(), "contextId") {
		return Turn{Text: "I did not expect this: " + m.last()}
	}
	return Turn{
		Text:  "The argument is called contextId, it says. Once more.",
		Calls: []Call{m.runIn(m.loader(), nil)},
	}
}

func (m *memory) loader() string {
	b, err := json.Marshal(sales)
	if err != nil {
		panic(err)
	}
	return program("load", m.language, "{{sales}}", string(b))
}

func sum(m *memory) Turn {
	if find(m.last(), `(\d+) rows`) == "" {
		return Turn{Text: "The data did not load: " + m.last()}
	}
	return Turn{
		Text:  "Now I add up the months. A value that is no number shall stop the program: better that than a wrong sum.",
		Calls: []Call{m.runIn(program("sum", m.language, "{{convert}}", program("strict", m.language)), nil)},
	}
}

// sumAgain reads the value that the program stumbled over in its error, and
// decides how to read such values.
func sumAgain(m *memory) Turn {
	value := find(m.last(), `not a number: '([^']*)'`)
	t := Turn{}
	convert := ""
	switch {
	case regexp.MustCompile(`^\d{1,3}(\.\d{3})*,\d+$`).MatchString(value):
		t.Text = fmt.Sprintf("%q is a number in the German way, with a comma for the decimals. I read both ways. The data is still in the context.", value)
		convert = program("both", m.language)
	case value != "":
		t.Text = fmt.Sprintf("%q cannot be read as a number. I leave such rows out. The data is still in the context.", value)
		convert = program("skip", m.language)
	default:
		return Turn{Text: "I did not expect this: " + m.last()}
	}
	t.Calls = []Call{m.runIn(program("sum", m.language, "{{convert}}", convert), nil)}
	return t
}

func chart(m *memory) Turn {
	if len(totals(m.last())) == 0 {
		return Turn{Text: "I cannot read the sums: " + m.last()}
	}
	return Turn{Text: "And the chart, from the sums that are in the context now.", Calls: []Call{m.runIn(program("chart", m.language), nil)}}
}

func tellBest(m *memory) Turn {
	best, most, rest := "", -1.0, 0
	sums := totals(m.replies[len(m.replies)-2][0].Text)
	for month, sum := range sums {
		if sum > most {
			best, most = month, sum
		}
	}
	for _, s := range sums {
		if s < most {
			rest++
		}
	}
	text := fmt.Sprintf("The best month was %s with %.2f, ahead of %d others.", best, most, rest)
	if r := m.replies[len(m.replies)-1][0]; r.Images == 0 {
		text += " I could not see the chart, though: " + firstLine(r.Text)
	}
	return Turn{Text: text}
}

// totals reads the sums of the months from a reply.
func totals(text string) map[string]float64 {
	var sums map[string]float64
	if err := json.Unmarshal([]byte(find(text, `sums: (\{.*\})`)), &sums); err != nil {
		return nil
	}
	return sums
}

func search(m *memory) Turn {
	code := program("collatz", m.language)
	if m.context == "" {
		return Turn{Text: "I need the context from before for that."}
	}
	return Turn{
		Text:  "I can only look for one, and the search has no end. I give it 200 ms.",
		Calls: []Call{m.runIn(code, map[string]any{"timeoutMs": 200})},
	}
}

func askHowFar(m *memory) Turn {
	if !strings.HasPrefix(m.last(), "timeout") {
		return Turn{Text: "I did not expect this: " + m.last()}
	}
	if strings.Contains(m.last(), "are gone") {
		return Turn{Text: "It was stopped and its variables are gone.", Calls: []Call{m.runIn("0", nil)}}
	}
	return Turn{
		Text:  "It was stopped, as it had to be. Its variables are still there: how far did it come?",
		Calls: []Call{m.runIn("checked", nil)},
	}
}

func cleanUp(m *memory) Turn {
	return Turn{
		Text:  "I need the context no longer.",
		Calls: []Call{m.call("delete_code_context", map[string]any{"contextId": m.context})},
	}
}

// tellCollatz takes how far the search came from the variable, or, where that
// is gone, from what the program had printed before it was stopped.
func tellCollatz(m *memory) Turn {
	far := find(m.replies[1][0].Text, `(?m)^(\d+)$`)
	if far == "" || far == "0" {
		far = find(m.replies[0][0].Text, `none up to (\d+)`)
	}
	return Turn{Text: fmt.Sprintf("None up to %s. That is no proof: nobody has one.", far)}
}

// find returns the pattern's first group where it occurs last in text: a
// traceback shows the program's own lines before the error itself.
func find(text, pattern string) string {
	if all := regexp.MustCompile(pattern).FindAllStringSubmatch(text, -1); all != nil {
		return all[len(all)-1][1]
	}
	return ""
}

// only returns the one key of a set that has no other, and is not empty.
func only(set map[string]bool) (string, bool) {
	for k := range set {
		return k, len(set) == 1 && k != ""
	}
	return "", false
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}
