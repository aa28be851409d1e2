package terminal

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/charmbracelet/x/ansi"
	"golang.org/x/term"
)

// maxMatches is how many completions are listed.
const maxMatches = 100

// columns is the width of the terminal.
func (e *Editor) columns() int {
	if width, _, err := term.GetSize(int(e.file.Fd())); err == nil && width > 0 {
		return width
	}
	return 80
}

// layout returns the text with its prompts as it is written, and the row and column
// behind it.
func (e *Editor) layout(text string, width int) (shown string, row, column int) {
	var b strings.Builder
	for i, line := range strings.Split(text, "\n") {
		prompt := e.Prompt
		if i > 0 {
			prompt = e.More
			b.WriteString("\r\n")
			row++
		}
		line = prompt + visible(line)
		b.WriteString(line)
		cells := ansi.StringWidth(line)
		row, column = row+cells/width, cells%width
		if cells > 0 && column == 0 { // the terminal wraps only with the next character
			b.WriteString("\r\n")
		}
	}
	return b.String(), row, column
}

// draw shows the text and puts the cursor in its place.
func (e *Editor) draw() {
	width := e.columns()
	shown, rows, _ := e.layout(e.text, width)
	_, row, column := e.layout(e.text[:e.pos], width)
	e.write(move(e.row, 'A') + "\r\x1b[J" + shown + move(rows-row, 'A') + "\r" + move(column, 'C'))
	e.row = row
}

// move returns the sequence that moves the cursor.
func move(n int, direction rune) string {
	if n <= 0 {
		return ""
	}
	return fmt.Sprintf("\x1b[%d%c", n, direction)
}

// visible is a line as the terminal shows it: tabs as spaces, nothing that acts on it.
func visible(line string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return '?'
		}
		return r
	}, strings.ReplaceAll(line, "\t", "    "))
}

// list shows completions below the text.
func (e *Editor) list(matches []string) {
	pos := e.pos
	e.pos = len(e.text)
	e.draw()
	e.pos, e.row = pos, 0
	text := visible(strings.Join(matches[:min(len(matches), maxMatches)], "  "))
	if more := len(matches) - maxMatches; more > 0 {
		text += fmt.Sprintf("  and %d more", more)
	}
	e.write("\r\n" + strings.ReplaceAll(ansi.Wordwrap(text, e.columns()-1, ""), "\n", "\r\n") + "\r\n")
}
