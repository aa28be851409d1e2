package rootfs_test

import "golang.org/x/sys/unix"

// tmpfile opens a file that has no name.
const tmpfile = unix.O_TMPFILE

// exchange has two files exchange their names.
func exchange(a, b string) error {
	return unix.Renameat2(unix.AT_FDCWD, a, unix.AT_FDCWD, b, unix.RENAME_EXCHANGE)
}
