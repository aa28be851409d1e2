package procfs

import "golang.org/x/sys/unix"

// readFile spends one buffer and three system calls, since those who watch
// processes do this all the time.
func readFile(path string) ([]byte, error) {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	b := make([]byte, 4096)
	for n := 0; ; {
		k, err := unix.Read(fd, b[n:])
		switch {
		case err == unix.EINTR:
		case err != nil:
			return nil, err
		default:
			if n += k; k == 0 || n == len(b) {
				return b[:n], nil
			}
		}
	}
}
