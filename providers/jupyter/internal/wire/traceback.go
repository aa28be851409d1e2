package wire

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/ansi"
)

var (
	// cellLine is how IPython names a line of a cell: "Cell In[3], line 2",
	// "Cell In [3], line 2" or "Input In [3], in <cell line: 2>()".
	cellLine = regexp.MustCompile(`(?:Cell|Input) In ?\[(\d+)\],(?: line (\d+)| in <cell line: (\d+)>)`)
	arrow    = regexp.MustCompile(`^-+> (\d+) `)
	// jsLine is how Deno and node name a line of the program.
	jsLine   = regexp.MustCompile(`(?:<anonymous>|evalmachine\.<anonymous>|REPL\d*|repl):(\d+):\d+`)
	bashLine = regexp.MustCompile(`line (\d+): `)
	// pySyntax is what Python appends to the message of a SyntaxError: the name
	// of the cell's file, which is made up, and the line.
	pySyntax  = regexp.MustCompile(` \([^()\n]*, line \d+\)$`)
	noModule  = regexp.MustCompile(`^No module named '([^']+)'(?:; '[^']+' is not a package)?$`)
	noPackage = regexp.MustCompile(`Cannot find (?:module|package) '([^']+)'|Module not found "([^"]+)"|there is no package called ['‘]([^'’]+)['’]`)
)

// NewProgramError makes a ProgramError of what the kernel reported.
func NewProgramError(name, value string, traceback []string, count int) *codeinterp.ProgramError {
	e := &codeinterp.ProgramError{Name: ansi.Strip(name), Message: ansi.Strip(value)}
	switch e.Name {
	case "SyntaxError", "IndentationError", "TabError":
		e.Message = pySyntax.ReplaceAllString(e.Message, "")
	}
	plain := false
	for _, item := range traceback {
		for line := range strings.SplitSeq(strings.TrimRight(item, "\n"), "\n") {
			bare := ansi.Strip(line)
			plain = plain || bare != line
			e.Traceback = append(e.Traceback, bare)
		}
	}
	if plain {
		e.RawTraceback = slices.Clone(traceback)
	}
	e.Line = errorLine(e.Traceback, count)
	if m := noModule.FindStringSubmatch(e.Message); m != nil {
		e.MissingModule = m[1]
	} else if m := noPackage.FindStringSubmatch(e.Message); m != nil {
		e.MissingModule = m[1] + m[2] + m[3]
	}
	return e
}

// errorLine finds the innermost line of the cell with the given execution
// count, 0 if there is none.
func errorLine(traceback []string, count int) int {
	line, ours := 0, false
	for _, text := range traceback {
		if m := cellLine.FindStringSubmatch(text); m != nil {
			ours = count == 0 || m[1] == strconv.Itoa(count)
			if n, err := strconv.Atoi(m[2] + m[3]); err == nil && ours {
				line = n
			}
			continue
		}
		if m := arrow.FindStringSubmatch(text); m != nil && ours {
			line, _ = strconv.Atoi(m[1])
			ours = false
		}
	}
	if line == 0 {
		line = firstLine(traceback)
	}
	return line
}

// firstLine looks for other kernels' ways to name a line.
func firstLine(traceback []string) int {
	for _, text := range traceback {
		for _, re := range []*regexp.Regexp{jsLine, bashLine} {
			if m := re.FindStringSubmatch(text); m != nil {
				n, _ := strconv.Atoi(m[1])
				return n
			}
		}
	}
	return 0
}
