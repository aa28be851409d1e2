package jupytertest

import (
	"fmt"
	"math/rand/v2"
	"net"
	"testing"
)

// FreePort returns a port that nothing listens on, nor on the two after it. It is
// none that the system gives to whoever wants any, as kernels do: one of those
// would be taken before the server, which starts for seconds, comes to listen.
func FreePort(t testing.TB) int {
	t.Helper()
	const first, last = 10_000, 32_000
	for range 100 {
		port := first + 4*rand.IntN((last-first)/4)
		if unused(port) && unused(port+1) && unused(port+2) {
			return port
		}
	}
	t.Fatal("no port is free")
	return 0
}

func unused(port int) bool {
	l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		return false
	}
	return l.Close() == nil
}
