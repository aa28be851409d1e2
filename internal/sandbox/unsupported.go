//go:build !unix

package sandbox

// A Sandbox needs Linux, macOS or a BSD.
type Sandbox struct {
	mode Mode
	opts Options
}

// A Dir needs Linux, macOS or a BSD.
type Dir struct{}

type proc struct{}
