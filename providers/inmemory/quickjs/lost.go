//go:build !(386 || arm || s390x)

package quickjs

import (
	"fmt"
	"strings"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/providers/inmemory/engine"
)

// lost is the outcome where the engine was broken off or broke by itself.
func (in *instance) lost(panicked any, stopped bool) engine.Outcome {
	out := engine.Outcome{ExitCode: codeinterp.ExitKilled, Lost: true, Stopped: stopped}
	switch heap := in.vm.heap; {
	case stopped || panicked == nil:
	case heap.host || isExhausted(panicked):
		// What the engine does not look at, it then uses; and the C library's stack is
		// not of the heap.
		heap.host = true
		out.Cause = codeinterp.CauseMemory
		out.Error = &codeinterp.ProgramError{Name: "InternalError", Message: "out of memory" + heap.why() + "; the context starts empty on its next run"}
	default:
		out.Error = &codeinterp.ProgramError{Name: "InternalError", Message: "the JavaScript engine failed; the context starts empty on its next run"}
	}
	return out
}

// isExhausted reports whether the C library panicked since the machine has no more
// memory.
func isExhausted(panicked any) bool {
	return strings.HasSuffix(fmt.Sprint(panicked), "OOM")
}

// begin forgets what was refused to an earlier program.
func (h *region) begin() { h.failed, h.others, h.host = false, false, false }

// why says of whose memory there was too little, if it was not the program's own.
func (h *region) why() string {
	switch {
	case h.host:
		return ": this machine has no more to give"
	case h.others:
		return ": what all contexts together may take is used up, most of it perhaps by others"
	}
	return ""
}
