package conformance

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/toolcell/toolcell/codeinterp"
)

// frameLines are how runtimes name a frame in a traceback: a file, or what stands in
// its place, and a line.
var frameLines = sync.OnceValue(func() []*regexp.Regexp {
	return []*regexp.Regexp{
		regexp.MustCompile(`^\s*(?:File|Cell) "?(.+?)"?(?:, line |:)(\d+)`),
		regexp.MustCompile(`^\s*at (?:.*\()?([^()]+?):(\d+):\d+\)?$`),
		regexp.MustCompile(`\bat (\S+) line (\d+)\.?$`),
	}
})

// frameOf returns the file and the line that a line of a traceback names.
func frameOf(text string) (file string, line int, ok bool) {
	for _, re := range frameLines() {
		if m := re.FindStringSubmatch(text); m != nil {
			line, err := strconv.Atoi(m[2])
			return m[1], line, err == nil
		}
	}
	return "", 0, false
}

// ownFrames wants each frame of an error to be in a line of code, or in a file of the
// language's library. Programs of the suite import nothing else.
func ownFrames(code string, e *codeinterp.ProgramError) error {
	if e == nil {
		return nil
	}
	for _, text := range e.Traceback {
		file, line, ok := frameOf(text)
		if ok && !inLibrary(file) && (isPath(file) || line < 1 || line > strings.Count(code, "\n")+1) {
			return fmt.Errorf("%s: a frame %s, which is neither the program's nor in the language's library", quote(code), quote(text))
		}
	}
	return nil
}

// inLibrary reports whether a file can be one of a language's library: files of the
// runtime's own have a scheme or a name in angle brackets, others have a path that is
// not in a folder for packages.
func inLibrary(file string) bool {
	if strings.HasPrefix(file, "node:") || strings.HasPrefix(file, "<frozen ") {
		return true
	}
	return isPath(file) && !strings.Contains(file, "-packages/") && !strings.Contains(file, "/node_modules/")
}

func isPath(file string) bool {
	return strings.HasPrefix(file, "/") || strings.HasPrefix(file, "file:/") || len(file) > 2 && file[1] == ':' && file[2] == '\\'
}
