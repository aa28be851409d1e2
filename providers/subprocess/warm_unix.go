//go:build unix

package subprocess

import "context"

// A warmer keeps processes of one language ready.
type warmer interface {
	// take returns a process that nobody has used, or nil where there is
	// none.
	take(ctx context.Context, once bool) (*process, error)
	close()
}

// heat starts the warmers.
func (i *Interpreter) heat() error { return nil }
