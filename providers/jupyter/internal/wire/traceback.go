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
	// cellLine is how IPython names a line of a cell: "Cell In[3], line 2",
	// "Cell In [3], line 2" or "Input In [3], in <cell line: 2>()".
	cellLine = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?:Cell|Input) In ?\[(\d+)\],(?: line (\d+)| in <cell line: (\d+)>)`)
	})
	arrow = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^-+> (\d+) `) })
	// member begins the lines of an error in a group of errors.
	member = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^ {4,}[|+]`) })
	// jsLine is how node names a line of the program.
	jsLine = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?:evalmachine\.<anonymous>|REPL\d*|repl):(\d+):\d+`)
	})
	bashLine = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`line (\d+): `) })
	// pySyntax is what Python appends to the message of a SyntaxError: the name
	// of the cell's file, which is made up, and the line.
	pySyntax = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(` \([^()\n]*, line \d+\)$`) })
	noModule = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^No module named '([^']+)'(?:; '[^']+' is not a package)?$`)
	})
	noPackage = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`Cannot find (?:module|package) '([^']+)'|Module not found "([^"]+)"|there is no package called ['‘]([^'’]+)['’]`)
	})
)

// What is read of an error, in bytes: more than a Result keeps of it.
const (
	maxErrorText = 128 << 10 // of its name and of its message
	maxTraceback = 512 << 10
)

// NewProgramError makes a ProgramError of what the kernel reported, and how
// many bytes were left out.
func NewProgramError(f *ErrorContent, count int) (e *codeinterp.ProgramError, lost int64) {
	text := func(s string) string {
		short, n := shorten.Middle(s, maxErrorText)
		lost += n
		return ansi.Strip(short)
	}
	e = &codeinterp.ProgramError{Name: text(f.Name), Message: text(f.Value)}
	switch e.Name {
	case "SyntaxError", "IndentationError", "TabError":
		e.Message = pySyntax().ReplaceAllString(e.Message, "")
	}
	traceback, n := ends(f.Traceback)
	lost += n
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
	if m := noModule().FindStringSubmatch(e.Message); m != nil {
		e.MissingModule = m[1]
	} else if m := noPackage().FindStringSubmatch(e.Message); m != nil {
		e.MissingModule = m[1] + m[2] + m[3]
	}
	return e, lost
}

// ends returns a traceback without the middle of one that is too long, as one item
// then.
func ends(items []string) (short []string, lost int64) {
	size := 0
	for _, item := range items {
		size += len(item) + 1
	}
	if size <= maxTraceback {
		return items, 0
	}
	text, lost := shorten.Middle(strings.Join(items, "\n"), maxTraceback)
	return []string{text}, lost
}

// errorLine finds the innermost line of the cell with the given execution
// count, 0 if there is none.
func errorLine(traceback []string, count int) int {
	line, ours := 0, false
	for _, text := range traceback {
		if member().MatchString(text) {
			continue
		}
		if m := cellLine().FindStringSubmatch(text); m != nil {
			ours = count == 0 || m[1] == strconv.Itoa(count)
			if n, err := strconv.Atoi(m[2] + m[3]); err == nil && ours {
				line = n
			}
			continue
		}
		if m := arrow().FindStringSubmatch(text); m != nil && ours {
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
		for _, re := range []*regexp.Regexp{jsLine(), bashLine()} {
			if m := re.FindStringSubmatch(text); m != nil {
				n, _ := strconv.Atoi(m[1])
				return n
			}
		}
	}
	return 0
}
