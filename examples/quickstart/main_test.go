package main

import (
	"bytes"
	"strings"
	"testing"
	"time"
)

// TestRun checks what a reader sees, in order.
func TestRun(t *testing.T) {
	t.Setenv("TOOLCELL_ENGINES", t.TempDir())
	var out watched
	if err := run(t.Context(), &out); err != nil {
		t.Fatal(err)
	}
	rest := out.text.String()
	for _, want := range []string{
		"inmemory: javascript", "blocked", "workspace__demo__run_code",
		"user  How many Fridays", `{"language":"javascript"}`, `{"language":"typescript"}`,
		"This century has 172 of them.",
		"user  These are our sales", `end 3  | {"contextId":`,
		`end 4  | {"error":{"code":"invalid_arguments"`, "contextId",
		"row 1: 2026-01-09", "row 12: 2026-06-24", "= 12 rows", "end 5  | ok",
		"end 6  | error", "Error: row 4 is not a number: '1.204,50'",
		`model "1.204,50" is a number in the German way`, `"2026-04":3111.5`, "end 7  | ok",
		"display: image/png", "end 8  | ok",
		"The best month was 2026-04 with 3111.50, ahead of 5 others.\n",
		"user  Is there a number", `"timeoutMs":200`, "end 9  | timeout after",
		"end 10 | ok", "model None up to ", `end 11 | {"ok":true}`,
		"The model took 13 turns; the conversation has 29 messages.",
	} {
		i := strings.Index(rest, want)
		if i < 0 {
			t.Fatalf("no %q in what is left:\n%s", want, rest)
		}
		rest = rest[i+len(want):]
	}
	if strings.Contains(out.text.String(), "None up to 0.") {
		t.Error("the search found nothing out")
	}
	if live := out.seen["row 12:"].Sub(out.seen["row 1:"]); live < 50*time.Millisecond {
		t.Errorf("the rows came within %v: they were not shown live", live)
	}
}

// watched is a writer that knows when what came.
type watched struct {
	text bytes.Buffer
	seen map[string]time.Time
	on   func(string)
}

func (w *watched) Write(p []byte) (int, error) {
	if w.seen == nil {
		w.seen = map[string]time.Time{}
	}
	for _, s := range []string{"row 1:", "row 12:"} {
		if bytes.Contains(p, []byte(s)) {
			w.seen[s] = time.Now()
		}
	}
	if w.on != nil {
		w.on(string(p))
	}
	return w.text.Write(p)
}
