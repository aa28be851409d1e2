//go:build !unix

package terminal

import (
	"os"
)

// A Reader reads from a file until it is closed.
type Reader struct{ *os.File }

// Supported reports whether there are readers on this system.
const Supported = false

// NewReader returns nil: a Read cannot be ended on this system.
func NewReader(*os.File) *Reader { return nil }
