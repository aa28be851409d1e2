//go:build unix && !linux

package rmtree

import "golang.org/x/sys/unix"

// Chmod sets the mode of a directory of the host's own, not of what a link of
// that name leads to.
func Chmod(at int, name string, mode uint32) error {
	return unix.Fchmodat(at, name, mode, unix.AT_SYMLINK_NOFOLLOW)
}
