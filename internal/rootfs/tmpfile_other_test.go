//go:build unix && !linux

package rootfs_test

// tmpfile opens a directory, which fails: only Linux has files without a name.
const tmpfile = 0
