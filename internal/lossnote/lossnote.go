// Package lossnote gathers what a Result lacks, for notes that people and models
// read.
package lossnote

import (
	"slices"
	"strings"

	"github.com/toolcell/toolcell/codeinterp"
)

// A Note is what is missing for one reason.
type Note struct {
	Streams string // such as "stdout, stderr and display"
	Reason  codeinterp.TruncationReason
}

// Of returns a note for each reason, in the order in which they come.
func Of(list []codeinterp.Truncation) []Note {
	var notes []Note
	for i, t := range list {
		if slices.ContainsFunc(list[:i], func(before codeinterp.Truncation) bool { return before.Reason == t.Reason }) {
			continue
		}
		var streams []string
		for _, of := range list[i:] {
			if of.Reason == t.Reason && !slices.Contains(streams, of.Stream) {
				streams = append(streams, of.Stream)
			}
		}
		notes = append(notes, Note{Streams: enumerate(streams), Reason: t.Reason})
	}
	return notes
}

func enumerate(words []string) string {
	last := len(words) - 1
	if last == 0 {
		return words[0]
	}
	return strings.Join(words[:last], ", ") + " and " + words[last]
}
