package subprocess

import (
	_ "embed"
	"regexp"
	"strings"
	"sync"

	"github.com/toolcell/toolcell/internal/jsvalue"
)

var (
	//go:embed drivers/node/driver.js
	nodeDriver string
	//go:embed drivers/node/frames.js
	nodeFrames string
	//go:embed drivers/node/streams.js
	nodeStreams string
	//go:embed drivers/node/show.js
	nodeShow string
	//go:embed drivers/node/calls.js
	nodeCalls string
	//go:embed drivers/node/imports.js
	nodeImports string
	//go:embed drivers/node/importing.js
	nodeImporting string
	//go:embed drivers/node/evaluate.js
	nodeEvaluate string
	//go:embed drivers/node/surroundings.js
	nodeSurroundings string
	//go:embed drivers/node/run.js
	nodeRun string
	//go:embed drivers/node/errors.js
	nodeErrors string
	//go:embed drivers/node/process.js
	nodeProcess string
)

// nodeSource is the driver: one block, whose names are its own.
var nodeSource = sync.OnceValue(func() string {
	return jsvalue.Into("'use strict';\n{\n" + strings.Join([]string{
		nodeDriver, nodeFrames, nodeStreams, nodeShow, nodeCalls, nodeImports, nodeImporting,
		nodeEvaluate, nodeSurroundings, nodeRun, nodeErrors, nodeProcess,
	}, "\n") + "}\n")
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
