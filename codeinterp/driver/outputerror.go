package driver

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/toolcell/toolcell/codeinterp"
)

// What is kept of a program's error, in bytes: names, the message, and each
// form of the traceback.
const (
	maxName         = 1 << 10
	maxErrorMessage = 64 << 10
	maxTraceback    = 128 << 10
)

// errorStream is what a Truncation calls the program's error.
const errorStream = "error"

// plus adds two sizes, either of which may be made up, without overflow.
func plus(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

// boundError cuts the program's error and reports the loss, with what was dropped
// before.
func boundError(res *codeinterp.Result, bounded bool, before int64) {
	if res.Error == nil || !bounded && before == 0 {
		return
	}
	e := *res.Error
	var all, kept int64
	text := func(s string, most int) string {
		all += int64(len(s))
		if bounded && len(s) > most {
			s = headOf(s, most)
		}
		kept += int64(len(s))
		return s
	}
	// Of a traceback that is too long, the first and the last lines.
	list := func(lines []string) []string {
		var head, tail int // how many
		room := maxTraceback
		for n := range lines {
			// Turn by turn: where the program was is at one end, the cause at the other.
			line := lines[n/2]
			if n%2 == 1 {
				line = lines[len(lines)-1-n/2]
			}
			if room -= len(line) + eachLine; bounded && room < 0 {
				break
			}
			head, tail = (n+2)/2, (n+1)/2
		}
		for i, line := range lines {
			all += int64(len(line) + eachLine)
			if i < head || i >= len(lines)-tail {
				kept += int64(len(line) + eachLine)
			}
		}
		if head+tail == len(lines) {
			return lines
		}
		note := fmt.Sprintf("[%d lines of the traceback were dropped]", len(lines)-head-tail)
		return slices.Concat(lines[:head], []string{note}, lines[len(lines)-tail:])
	}
	e.Name, e.MissingModule = text(e.Name, maxName), text(e.MissingModule, maxName)
	e.Message = text(e.Message, maxErrorMessage)
	e.Traceback, e.RawTraceback = list(e.Traceback), list(e.RawTraceback)
	if kept == all && before == 0 {
		return
	}
	res.Error = &e
	res.Truncated = append(res.Truncated, codeinterp.Truncation{Stream: errorStream, Bytes: plus(all, before), Kept: kept, Reason: codeinterp.TruncatedByLimit})
}

// eachLine is what a line costs beside its bytes.
const eachLine = 16

// headOf returns a copy of the first n bytes of s, so that a Result does not hold all
// of s.
func headOf(s string, n int) string { return strings.Clone(s[:headCut([]byte(s[:n]), n)]) }
