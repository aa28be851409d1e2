package terminal

import (
	"fmt"
	"io"
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

// draw shows the text with its prompts and puts the cursor in its place.
func (e *Editor) draw() {
	width := e.columns()
	var b strings.Builder
	if e.row > 0 {
		fmt.Fprintf(&b, "\x1b[%dA", e.row)
	}
	b.WriteString("\r\x1b[J")
	rows, row, column := 0, 0, 0
	rest := e.pos
	for i, line := range strings.Split(string(e.text), "\n") {
		prompt := e.More
		if i == 0 {
			prompt = e.Prompt
		} else {
			b.WriteString("\r\n")
			rows++
		}
		if length := len([]rune(line)); rest >= 0 && rest <= length {
			before := ansi.StringWidth(prompt + shown(string([]rune(line)[:rest])))
			row, column = rows+before/width, before%width
			rest = -1
		} else {
			rest -= length + 1
		}
		text := prompt + shown(line)
		b.WriteString(text)
		cells := ansi.StringWidth(text)
		rows += cells / width
		if cells > 0 && cells%width == 0 { // the terminal wraps only with the next character
			b.WriteString("\r\n")
		}
	}
	if rows > row {
		fmt.Fprintf(&b, "\x1b[%dA", rows-row)
	}
	b.WriteString("\r")
	if column > 0 {
		fmt.Fprintf(&b, "\x1b[%dC", column)
	}
	e.row = row
	_, _ = io.WriteString(e.out, b.String())
}

// shown is a line as the terminal shows it: tabs as spaces, nothing that acts on it.
func shown(line string) string {
	line = strings.ReplaceAll(line, "\t", "    ")
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return '?'
		}
		return r
	}, line)
}

// list shows completions below the text.
func (e *Editor) list(matches []string) {
	pos := e.pos
	e.pos = len(e.text)
	e.draw()
	e.pos = pos
	var b strings.Builder
	b.WriteString("\r\n")
	widest := 0
	for _, m := range matches {
		widest = max(widest, ansi.StringWidth(shown(m))+2)
	}
	each := max(1, e.columns()/widest)
	for i, m := range matches[:min(len(matches), maxMatches)] {
		text := shown(m)
		b.WriteString(text + strings.Repeat(" ", widest-ansi.StringWidth(text)))
		if i%each == each-1 {
			b.WriteString("\r\n")
		}
	}
	if more := len(matches) - maxMatches; more > 0 {
		fmt.Fprintf(&b, "and %d more", more)
	}
	b.WriteString("\r\n")
	_, _ = io.WriteString(e.out, b.String())
	e.row = 0
}
