package screen

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/toolcell/toolcell/internal/plaintext"
	"github.com/toolcell/toolcell/internal/shorten"
)

const (
	maxLines = 11  // of an argument that are shown
	maxLine  = 100 // bytes of such a line that are shown
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
		lines = append(lines[:maxLines], fmt.Sprintf("... %d more lines", more))
	}
	for i, line := range lines {
		if len(line) > maxLine {
			lines[i] = shorten.Head(line, maxLine)
		}
	}
	return strings.Join(lines, "\n")
}
