//go:build !linux

package procfs

import "errors"

func readFile(string) ([]byte, error) { return nil, errors.ErrUnsupported }
