package jupyter

import (
	"context"
	"time"

	"github.com/toolcell/toolcell/providers/jupyter/internal/server"
)

// A StatusError is a server's refusal of a request. It unwraps to
// [codeinterp.ErrCapacity] where a limit on kernels is reached, to
// [codeinterp.ErrContext] where a kernel is gone, and to
// [codeinterp.ErrUnavailable] otherwise. Its fields are Code, the HTTP status;
// Request, such as "POST api/kernels", without host and query; Hint, the likely
// cause in our words; and Message, what the server said, shortened.
type StatusError = server.StatusError

// Sweep deletes the kernels that clients with the tag of opts left behind when
// they crashed: those that no client is connected to and that had no activity
// for idle. It returns how many it deleted. Servers that do not list sessions,
// as gateways by default, refuse with a *StatusError.
func Sweep(ctx context.Context, opts *Options, idle time.Duration) (int, error) {
	o, err := opts.check()
	if err != nil {
		return 0, wrap("sweep", err)
	}
	c, err := server.New(o.server())
	if err != nil {
		return 0, wrap("sweep", err)
	}
	defer c.Close()
	n, err := c.Sweep(ctx, idle)
	return n, wrap("sweep", err)
}
