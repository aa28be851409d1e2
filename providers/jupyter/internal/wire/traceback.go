package wire

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/ansi"
	"github.com/toolcell/toolcell/internal/shorten"
)

var (
	// cellLine is how IPython names a line of a cell: "Cell In[3], line 2".
	cellLine = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`Cell In ?\[(\d+)\], line (\d+)`) })
	// member begins the lines of an error in a group of errors.
	member = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^ {4,}[|+]`) })
	// pySyntax is what Python appends to the message of a SyntaxError: the name
	// of the cell's file, which is made up, and the line.
	pySyntax = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(` \([^()\n]*, line \d+\)$`) })
	noModule = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^No module named '([^']+)'(?:; '[^']+' is not a package)?$`)
	})
)

// maxTraceback is how many bytes are read of a traceback.
const maxTraceback = 512 << 10

// NewProgramError makes a ProgramError of what the kernel reported of the cell that it
// calls count, and how many bytes of the traceback's middle were left out.
func NewProgramError(f *ErrorContent, count int) (e *codeinterp.ProgramError, lost int64) {
	e = &codeinterp.ProgramError{Name: ansi.Strip(f.Name), Message: ansi.Strip(f.Value)}
	switch e.Name {
	case "SyntaxError", "IndentationError", "TabError":
		e.Message = pySyntax().ReplaceAllString(e.Message, "")
	}
	if m := noModule().FindStringSubmatch(e.Message); m != nil {
		e.MissingModule = m[1]
	}
	traceback := f.Traceback
	if text := strings.Join(traceback, "\n"); len(text) > maxTraceback {
		text, lost = shorten.Middle(text, maxTraceback)
		traceback = []string{text}
	}
	coloured := false
	for _, item := range traceback {
		for line := range strings.SplitSeq(strings.TrimRight(item, "\n"), "\n") {
			bare := ansi.Strip(line)
			coloured = coloured || bare != line
			e.Traceback = append(e.Traceback, bare)
		}
	}
	if coloured {
		e.RawTraceback = slices.Clone(traceback)
	}
	e.Line = errorLine(e.Traceback, count)
	return e, lost
}

// errorLine finds the innermost line of the cell with the given execution
// count, 0 if there is none.
func errorLine(traceback []string, count int) (line int) {
	for _, text := range traceback {
		if m := cellLine().FindStringSubmatch(text); m != nil && !member().MatchString(text) && (count == 0 || m[1] == strconv.Itoa(count)) {
			line, _ = strconv.Atoi(m[2])
		}
	}
	return line
}
