//go:build linux && !amd64 && !arm64

package forkexec

import "golang.org/x/sys/unix"

const vforkFlags = 0

func vforkAside(_, _, _, _ uintptr) (pid uintptr) {
	e := uintptr(unix.ENOSYS) // there is no assembly for this architecture
	return -e
}
