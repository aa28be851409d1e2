//go:build !unix

package terminal

import (
	"os"
)

// A Reader reads from a file until it is closed.
type Reader struct{ *os.File }

// NewReader returns nil: a Read cannot be ended on this system.
func NewReader(*os.File) *Reader { return nil }
