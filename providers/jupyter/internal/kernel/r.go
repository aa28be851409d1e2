package kernel

import (
	"strings"

	"github.com/toolcell/toolcell/providers/jupyter/internal/wire"
)

// rDialect is for IRkernel, which is run as it is. It calls every error ERROR,
// and its message is the line that R prints of it: "Error: ", or "Error in " and
// the call, and the message.
var rDialect = dialect{value: jsonValue, completes: true, fault: func(f *wire.ErrorContent) {
	line := strings.TrimSuffix(f.Value, "\n")
	if f.Name == "ERROR" && strings.HasPrefix(line, "Error") {
		f.Name, f.Value = "Error", strings.TrimPrefix(line, "Error: ")
	}
}}
