package mcptools

import (
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

const (
	// maxUnasked is how many bytes of parameters are kept of a message that a server
	// sends by itself. Nothing in them is used.
	maxUnasked = 4 << 10

	// maxID is how long the id of a server's request may be, which its answer carries.
	maxID = 256

	toolsChanged = "notifications/tools/list_changed"
)

var errID = fmt.Errorf("the server has sent a request whose id has more than %d bytes", maxID)

// unasked looks at a message that a server sends by itself before the SDK decodes it,
// and keeps it in a queue that has no end. It reports whether anybody heeds it, and
// cuts what is not looked at.
func unasked(r *jsonrpc.Request) (heeded bool, err error) {
	if id, ok := r.ID.Raw().(string); ok && len(id) > maxID {
		return false, errID
	}
	if len(r.Params) > maxUnasked {
		r.Params = nil
	}
	return r.IsCall() || r.Method == toolsChanged, nil
}
