package screen

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/plaintext"
	"github.com/toolcell/toolcell/tools"
)

// took is how long a reply's program ran.
func took(r *tools.Answer) time.Duration {
	d := r.Result.Duration
	if d < 10*time.Millisecond {
		return d.Round(10 * time.Microsecond)
	}
	return d.Round(time.Millisecond)
}

const (
	maxLines = 11  // of an argument that are shown
	maxLine  = 100 // characters of such a line that are shown
)

// argumentLines returns a call's arguments for people: the code as it is, and
// the others in one line. What is too long is cut.
func argumentLines(args string) string {
	var all map[string]any
	text := args
	if json.Unmarshal([]byte(args), &all) == nil {
		code, _ := all["code"].(string)
		delete(all, "code")
		text = strings.Trim(code, "\n")
		if len(all) > 0 {
			rest, _ := json.Marshal(all)
			text = string(rest) + "\n" + text
		}
	}
	lines := strings.Split(strings.TrimRight(plaintext.Clean(text), "\n"), "\n")
	if more := len(lines) - maxLines; more > 1 {
		lines = append(slices.Clone(lines[:maxLines]), fmt.Sprintf("... %d more lines", more))
	}
	for i, line := range lines {
		if r := []rune(line); len(r) > maxLine {
			lines[i] = string(r[:maxLine]) + "..."
		}
	}
	return strings.Join(lines, "\n")
}

// display writes the types of a display and its text.
func (s *Screen) display(margin string, o *codeinterp.Output) {
	var types []string
	for _, rep := range o.Bundle {
		types = append(types, fmt.Sprintf("%s, %d bytes", plaintext.Clean(rep.MIME), len(rep.Data)))
	}
	s.lines(margin, dim, "display: "+strings.Join(types, "; "))
	if text, ok := o.Richest("text/markdown", "text/plain"); ok {
		s.lines(margin, "", plaintext.Clean(string(text.Data)))
	}
}
