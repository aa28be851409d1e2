//go:build !unix

package main

import (
	"io"
	"os"
)

// openTyped returns nil: no Read could be ended here.
func openTyped(*os.File) io.ReadCloser { return nil }
