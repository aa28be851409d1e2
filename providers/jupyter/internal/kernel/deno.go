package kernel

import (
	_ "embed"
	"fmt"
	"strconv"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/jsvalue"
)

//go:embed setup.js
var denoSetup string

// denoDialect is for Deno's kernel, in JavaScript and TypeScript. It sends a
// value after it said that it is idle, it cannot be interrupted, and it reads
// no standard input.
var denoDialect = dialect{
	completes: true,
	setup:     func(bool) string { return jsvalue.Into(denoSetup) },
	start:     func(s Surroundings) string { return denoCall("start", s) },
	enter:     func(s Surroundings) string { return denoCall("enter", s) },
	leave:     denoHelper + ".leave()",
	clear:     denoHelper + ".clear()",
	remove:    func(dir string) string { return fmt.Sprintf("%s.remove(%q)", denoHelper, dir) },
	noStdin:   true,
	settle:    func(marker string) string { return fmt.Sprintf("void %s.print(%q, false)", denoHelper, marker) },
	exit: func(e *codeinterp.ProgramError) (int, bool) {
		n, err := strconv.Atoi(e.Message)
		return n & 0xff, e.Name == "ProcessExit" && err == nil
	},
}

const denoHelper = "Deno[Deno.internal].toolcell"

func denoCall(method string, s Surroundings) string {
	return fmt.Sprintf("%s.%s(%s)", denoHelper, method, arguments(s))
}
