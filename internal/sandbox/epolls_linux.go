package sandbox

import (
	"bytes"
	"os"
	"strconv"
	"strings"
)

const (
	// perWatch is what the kernel holds for a descriptor that an epoll watches.
	perWatch = 200

	// perTerminal is what it holds for an end of a pseudo terminal: twice 8 KiB that
	// nobody has read yet, and what manages that.
	perTerminal = 32 << 10

	// perQueue is the most that one inotify holds of what nobody has read, with the
	// kernel's default of events.
	perQueue = 16384 * 512

	// maxWatches bounds how many watches of one epoll are read: the kernel writes all
	// of them down for the first byte already, a million in two seconds.
	maxWatches = 1 << 19
)

// userWatches is the most that all epolls of a user can watch, in bytes.
func userWatches() int64 {
	b, err := os.ReadFile("/proc/sys/fs/epoll/max_user_watches")
	if err != nil {
		return 0
	}
	n, _ := strconv.ParseInt(strings.TrimSpace(string(b)), 10, 64)
	return min(n, 1<<40) * perWatch
}

// An opened is what the processes of a tree have open that the kernel holds memory
// for.
type opened struct {
	files     int64 // of any kind
	sockets   map[string]struct{}
	carried   bool // one of these has descriptors in flight
	polled    int64
	terminals int64
	queues    int64
	epolls    []descriptor
}

type descriptor struct {
	pid int
	fd  string
}

// heldBy returns the most that the kernel holds for what the processes have open. A
// socket counts once, and if any has descriptors in flight, so does as much as a
// user can have there: a socket that is in flight can have others in flight, which
// nobody shows. It also reports whether that is all.
func (e *exact) heldBy(pids []int) (bytes int64, all bool) {
	o := opened{sockets: map[string]struct{}{}}
	r := startReading()
	defer r.end()
	for _, pid := range pids {
		o.add(pid, r)
		o.polled += polled(pid, r)
	}
	inFlight := maxInFlight(e.limits)
	n := (int64(len(o.sockets))+o.polled)*e.perSocket + o.terminals*perTerminal + o.queues*perQueue
	if o.carried {
		n, o.files = n+inFlight*e.perSocket+e.watches, o.files+inFlight
	}
	// An epoll watches each open file once by each number that it had.
	if len(o.epolls) > 0 && o.files*maxOpen(e.limits) > maxWatches {
		return n + e.watches, !r.done
	}
	for _, fd := range o.epolls {
		n += fd.watches(r) * perWatch
	}
	return n, !r.done
}

// add adds what one process has.
func (o *opened) add(pid int, r *reading) {
	dir := "/proc/" + strconv.Itoa(pid) + "/fd"
	f, err := os.Open(dir)
	if err != nil {
		return
	}
	defer f.Close()
	names, _ := f.Readdirnames(-1)
	o.files += int64(len(names))
	for _, name := range names {
		if r.over() {
			return
		}
		link, err := os.Readlink(dir + "/" + name)
		switch {
		case err != nil:
		case link == "anon_inode:[eventpoll]":
			o.epolls = append(o.epolls, descriptor{pid, name})
		case link == "anon_inode:inotify":
			o.queues++
		case strings.HasPrefix(link, "/dev/pts/") || link == "/dev/ptmx":
			o.terminals++
		case strings.HasPrefix(link, "socket:"):
			if _, before := o.sockets[link]; !before {
				o.sockets[link] = struct{}{}
				o.carried = o.carried || carries(pid, name)
			}
		}
	}
}

// watches counts what an epoll watches.
func (d descriptor) watches(r *reading) (n int64) {
	if r.over() {
		return 0
	}
	f, err := os.Open("/proc/" + strconv.Itoa(d.pid) + "/fdinfo/" + d.fd)
	if err != nil {
		return 0
	}
	defer f.Close()
	defer r.look()
	for b := make([]byte, 16<<10); ; {
		k, err := f.Read(b)
		if n += int64(bytes.Count(b[:k], []byte("tfd:"))); err != nil {
			return n
		}
	}
}
