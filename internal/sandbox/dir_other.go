//go:build unix && !linux

package sandbox

import "golang.org/x/sys/unix"

const openDirOnly = unix.O_RDONLY
