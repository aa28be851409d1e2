package tools

import (
	"fmt"
	"regexp"
	"strings"
	"sync"

	"github.com/toolcell/toolcell/codeinterp"
)

// frameLine matches the line that opens a frame: of Python, of IPython, of
// JavaScript.
var frameLine = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^\s*File .*, line \d+|^\s*File .*:\d+|^\s*(?:Cell|Input) .*line \d+|^\s*at .+:\d+|^\s*at .*\((?:native|<anonymous>)\)|^(?:/|[A-Za-z]:\\|~|<).*(?:\.py|>) in `)
})

// libraryFrame matches frames that are not the user's.
var libraryFrame = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`/site-packages/|/dist-packages/|/lib/python\d|\\lib\\|<frozen |/node_modules/|\bnode:|\(native\)|at native|\binternal/|<__array_function__`)
})

// userFrames returns a traceback with a line that counts them in
// place of the frames of libraries. A traceback that has no others is left whole.
func userFrames(lines []string) []string {
	var out []string
	user, skipped, inLibrary := false, 0, false
	note := func() {
		if skipped > 0 {
			out = append(out, fmt.Sprintf("  [%s]", plural(skipped, "library frame", "left out")))
			skipped = 0
		}
	}
	for _, line := range lines {
		switch {
		case frameLine().MatchString(line):
			if inLibrary = libraryFrame().MatchString(line); inLibrary {
				skipped++
				continue
			}
			user = true
		// What is not indented belongs to no frame: it is the error's line, or the
		// next traceback.
		case line == "" || line[0] != ' ' && line[0] != '\t' && !isMarked(line):
			inLibrary = false
		case inLibrary:
			continue
		}
		note()
		out = append(out, line)
	}
	note()
	if !user {
		return lines
	}
	return out
}

// isMarked reports whether the line belongs to an IPython frame: an arrow at
// the current line.
func isMarked(line string) bool { return strings.HasPrefix(line, "-") }

// errorText is the program's error for a model: the traceback's user frames,
// and the error's own line if the traceback does not end with it or its
// start.
func errorText(e *codeinterp.ProgramError, stderr string) string {
	own := strings.TrimSpace(e.Error())
	trace := strings.TrimRight(strings.Join(userFrames(splitLines(e.Traceback)), "\n"), "\n ")
	full := strings.TrimSpace(strings.Join(e.Traceback, "\n"))
	switch {
	case trace == "" && e.Line > 0:
		return fmt.Sprintf("%s (line %d)", own, e.Line)
	// The runtime printed it to stderr.
	case trace == "" || full != "" && strings.HasSuffix(strings.TrimSpace(stderr), full):
		return own
	case strings.Contains(trace, own), strings.HasPrefix(own, strings.TrimSpace(trace[strings.LastIndexByte(trace, '\n')+1:])):
		return trace
	}
	return trace + "\n" + own
}

// splitLines splits entries that hold several lines, as Jupyter's do.
func splitLines(list []string) []string {
	for _, s := range list {
		if strings.Contains(s, "\n") {
			return strings.Split(strings.Join(list, "\n"), "\n")
		}
	}
	return list
}

func plural(n int, noun, rest string) string {
	if n != 1 {
		noun += "s"
	}
	return fmt.Sprintf("%d %s %s", n, noun, rest)
}
