package output

import (
	"fmt"
	"slices"

	"github.com/toolcell/toolcell/codeinterp"
)

// What is kept of a program's error, in bytes: names, the message, and each
// form of the traceback.
const (
	maxName      = 1 << 10
	maxMessage   = 64 << 10
	maxTraceback = 128 << 10
)

// boundError cuts what is too long of the program's error, and tells so.
func boundError(res *codeinterp.Result) {
	if res.Error == nil {
		return
	}
	e := *res.Error
	var all, kept int64
	text := func(s string, most int) string {
		all += int64(len(s))
		if len(s) > most {
			s = s[:headCut([]byte(s), most)]
		}
		kept += int64(len(s))
		return s
	}
	list := func(lines []string) []string {
		short, n, left := traceback(lines)
		all += n
		kept += left
		return short
	}
	e.Name, e.MissingModule = text(e.Name, maxName), text(e.MissingModule, maxName)
	e.Message = text(e.Message, maxMessage)
	e.Traceback, e.RawTraceback = list(e.Traceback), list(e.RawTraceback)
	if kept == all {
		return
	}
	res.Error = &e
	res.Truncated = append(res.Truncated, codeinterp.Truncation{Stream: "error", Bytes: all, Kept: kept, Reason: codeinterp.TruncatedByLimit})
}

// traceback keeps the first and the last lines of one that is too long.
func traceback(lines []string) (short []string, all, kept int64) {
	for _, l := range lines {
		all += int64(len(l) + eachLine)
	}
	if all <= maxTraceback {
		return lines, all, all
	}
	head, room := fill(lines, maxTraceback*headPercent/100)
	rest := slices.Clone(lines[len(head):])
	slices.Reverse(rest)
	tail, _ := fill(rest, maxTraceback-maxTraceback*headPercent/100+room)
	slices.Reverse(tail)
	for _, l := range slices.Concat(head, tail) {
		kept += int64(len(l) + eachLine)
	}
	note := fmt.Sprintf("[%d bytes of the traceback were dropped]", all-kept)
	return slices.Concat(head, []string{note}, tail), all, kept
}

// eachLine is what a line costs beside its bytes.
const eachLine = 16

// fill returns as many lines as have room, the first cut where it has not, and
// the room that is left.
func fill(lines []string, room int) ([]string, int) {
	for i, l := range lines {
		if len(l)+eachLine > room {
			if i == 0 && room > eachLine {
				return []string{l[:headCut([]byte(l), room-eachLine)]}, 0
			}
			return slices.Clone(lines[:i]), room
		}
		room -= len(l) + eachLine
	}
	return slices.Clone(lines), room
}
