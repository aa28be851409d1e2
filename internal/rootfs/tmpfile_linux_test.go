package rootfs_test

import "golang.org/x/sys/unix"

// tmpfile opens a file that has no name.
const tmpfile = unix.O_TMPFILE
