package sandbox

import (
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// socketBuffer is the most that the kernel holds of what was sent through one
// socket and not received: the size that sockets begin with, which programs
// cannot change, and the piece that goes beyond it, with what manages both.
func socketBuffer() int64 {
	const usual = 212992
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return 2 * usual
	}
	defer unix.Close(fd)
	n, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_SNDBUF)
	if err != nil || n <= 0 {
		n = usual
	}
	return 2 * int64(n)
}

// buffers is the most that sockets can hold for the tree, if all of the places
// for descriptors that its processes have are full of them, and so is what can be in
// flight.
func (u *usage) buffers() int64 {
	return (u.places + maxInFlight(u.p.plan.limits)) * u.p.s.watch.perSocket
}

// maxInFlight is how many descriptors a user's programs can have sent in all that
// nobody has received: as many as one may have open, which the kernel looks at
// before it takes a message, with up to 253 of them.
func maxInFlight(l Limits) int64 {
	const message = 253
	if l.OpenFiles > 0 {
		return int64(l.OpenFiles) + message
	}
	var lim unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &lim) != nil {
		return message
	}
	return int64(min(lim.Max, 1<<20)) + message
}

// sockets counts those that any of the processes holds open, and, if any of these
// has descriptors in flight, inFlight more: a socket that is in flight can have
// others in flight, which nobody shows.
func sockets(pids []int, inFlight int64) int64 {
	end := time.Now().Add(filesBudget)
	seen, carried := map[string]struct{}{}, false
	for _, i := range rand.Perm(len(pids)) {
		carried = addSockets(pids[i], seen, end) || carried
		if time.Now().After(end) {
			break
		}
	}
	if carried {
		return int64(len(seen)) + inFlight
	}
	return int64(len(seen))
}

// addSockets adds those of one process, and reports whether one that it adds has
// descriptors in flight.
func addSockets(pid int, seen map[string]struct{}, end time.Time) (carried bool) {
	dir := "/proc/" + strconv.Itoa(pid) + "/fd"
	f, err := os.Open(dir)
	if err != nil {
		return false
	}
	defer f.Close()
	names, _ := f.Readdirnames(-1)
	for i, name := range names {
		if i%64 == 63 && time.Now().After(end) {
			break
		}
		link, err := os.Readlink(dir + "/" + name)
		if err != nil || !strings.HasPrefix(link, "socket:") {
			continue
		}
		if _, before := seen[link]; !before {
			seen[link] = struct{}{}
			carried = carried || carries(pid, name)
		}
	}
	return carried
}
