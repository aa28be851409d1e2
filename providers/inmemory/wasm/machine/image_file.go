//go:build unix && !linux

package machine

import "os"

// anonymousFile returns a file that has no name.
func anonymousFile() (*os.File, error) {
	f, err := os.CreateTemp("", "toolcell-image-*")
	if err != nil {
		return nil, err
	}
	return f, os.Remove(f.Name())
}
