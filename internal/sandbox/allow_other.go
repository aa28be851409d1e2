//go:build unix && !linux

package sandbox

import "golang.org/x/sys/unix"

// allow sets the mode of a directory of the host's own, not of what a link of
// that name leads to.
func allow(at int, name string, mode uint32) error {
	return unix.Fchmodat(at, name, mode, unix.AT_SYMLINK_NOFOLLOW)
}
