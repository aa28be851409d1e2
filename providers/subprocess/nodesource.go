package subprocess

import (
	"sync"

	"github.com/toolcell/toolcell/internal/jsvalue"
)

// nodeSource is the driver: one block, whose names are its own.
var nodeSource = sync.OnceValue(func() string {
	return jsvalue.Into("'use strict';\n{\n" + sourceOf("node/", "driver.js", "frames.js", "streams.js", "show.js", "calls.js", "imports.js",
		"importing.js", "evaluate.js", "surroundings.js", "timers.js", "run.js", "errors.js", "process.js") + "}\n")
})
