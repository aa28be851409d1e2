//go:build unix && !linux

package rootfs_test

import "errors"

// tmpfile opens a directory, which fails: only Linux has files without a name.
const tmpfile = 0

// exchange is what not every system can do.
func exchange(a, b string) error { return errors.ErrUnsupported }
