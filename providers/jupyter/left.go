package jupyter

import "github.com/toolcell/toolcell/providers/jupyter/internal/kernel"

// A leftover is what may still run in the kernel after a method has returned. The next
// run ends it first.
type leftover uint8

const (
	nothing         leftover = iota
	ofCompletion             // the kernel's completer
	ofProgram                // a program whose end is unknown
	inQueue                  // a program that waits behind another client's
	inGivenUpKernel          // as ofProgram, and the kernel may die at any time
)

// leftBy returns the leftover of a program that ended so.
func leftBy(end kernel.Ending) leftover {
	switch {
	case !end.Left:
		return nothing
	case end.Queued:
		return inQueue
	case end.Lost:
		return inGivenUpKernel
	}
	return ofProgram
}
