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
	list := func(lines []string) []string {
		short, n, left := traceback(lines, bounded)
		all += n
		kept += left
		return short
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

// traceback keeps the first and the last lines of one that is too long.
func traceback(lines []string, bounded bool) (short []string, all, kept int64) {
	for _, l := range lines {
		all += int64(len(l) + eachLine)
	}
	if !bounded || all <= maxTraceback {
		return lines, all, all
	}
	head, room := fill(lines, maxTraceback*codeinterp.OutputHeadPercent/100)
	rest := slices.Clone(lines[len(head):])
	slices.Reverse(rest)
	// The tail gets the room that the head did not need.
	tail, _ := fill(rest, maxTraceback-maxTraceback*codeinterp.OutputHeadPercent/100+room)
	slices.Reverse(tail)
	for _, l := range slices.Concat(head, tail) {
		kept += int64(len(l) + eachLine)
	}
	note := fmt.Sprintf("[%d bytes of the traceback were dropped]", all-kept)
	return slices.Concat(head, []string{note}, tail), all, kept
}

// eachLine is what a line costs beside its bytes.
const eachLine = 16

// fill returns the lines for which there is room, the first one cut if necessary, and
// the remaining room.
func fill(lines []string, room int) ([]string, int) {
	for i, l := range lines {
		if len(l)+eachLine > room {
			if i == 0 && room > eachLine {
				return []string{headOf(l, room-eachLine)}, 0
			}
			return slices.Clone(lines[:i]), room
		}
		room -= len(l) + eachLine
	}
	return slices.Clone(lines), room
}

// headOf returns a copy of the first n bytes of s, so that a Result does not hold all
// of s.
func headOf(s string, n int) string { return strings.Clone(s[:headCut([]byte(s[:n]), n)]) }
