package jupyter

import "github.com/toolcell/toolcell/providers/jupyter/internal/kernel"

// A leftover is what may still run in the kernel when a method has returned. The
// next run ends it before it begins.
type leftover uint8

const (
	nothing         leftover = iota
	ofCompletion             // the kernel's completer, whose end nobody waits to hear of
	ofProgram                // a program whose end is not known
	inQueue                  // a program that waits behind another client's
	inGivenUpKernel          // as ofProgram, and the kernel may die at any time
)

// leftBy returns what a program has left that ended so.
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
