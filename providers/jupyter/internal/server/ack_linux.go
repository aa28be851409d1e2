package server

import (
	"net"
	"syscall"

	"golang.org/x/sys/unix"
)

// quickAck returns what re-arms TCP_QUICKACK on a connection, nil if it is
// none of the system's. The option wears off by itself, so it is set after
// each read.
func quickAck(c net.Conn) func() {
	sc, ok := c.(syscall.Conn)
	if !ok {
		return nil
	}
	rc, err := sc.SyscallConn()
	if err != nil {
		return nil
	}
	arm := func(fd uintptr) { _ = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_QUICKACK, 1) }
	return func() { _ = rc.Control(arm) }
}
