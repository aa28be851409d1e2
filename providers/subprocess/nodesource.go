package subprocess

import (
	"regexp"
	"strings"
	"sync"

	"github.com/toolcell/toolcell/internal/jsvalue"
)

// nodeSource is the driver: one block, whose names are its own.
var nodeSource = sync.OnceValue(func() string {
	return jsvalue.Into("'use strict';\n{\n" + sourceOf("node/", "driver.js", "frames.js", "streams.js", "show.js", "calls.js", "imports.js",
		"importing.js", "evaluate.js", "surroundings.js", "timers.js", "run.js", "errors.js", "process.js") + "}\n")
})

// dynamicImport is the driver's function that a program calls for import(...), which
// V8 has not for what its inspector evaluates. It is as long, so that columns stay.
const dynamicImport = "__impt"

var importCall = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\bimport[\s\pZ\x{FEFF}]*(?:\(|/[/*])`)
})

// mayImport reports whether a program in JavaScript perhaps calls import(...).
func mayImport(code string) bool {
	return strings.Contains(code, "import") && importCall().MatchString(code)
}
