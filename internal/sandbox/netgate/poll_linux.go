package netgate

import (
	"net"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// A Host is what the sessions of one sandbox share: how many connections they can have,
// so that the host keeps descriptors for itself, and one goroutine that waits for all of
// their listeners.
type Host struct {
	most int64        // connections
	used atomic.Int64 // of them
	poll int          // descriptor of epoll(7), which file owns
	file *os.File

	mu   sync.Mutex
	list map[int]*listener // by descriptor
}

// NewHost returns the Host of a process that can have so many descriptors. It keeps half of
// them; a connection takes up to six, for two sockets and two pipes between them.
func NewHost(descriptors uint64) (*Host, error) {
	fd, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return nil, err
	}
	_ = unix.SetNonblock(fd, true)
	h := &Host{most: int64(min(descriptors, 1<<30)) / 2 / 6, poll: fd, file: os.NewFile(uintptr(fd), "epoll"), list: map[int]*listener{}}
	raw, err := h.file.SyscallConn()
	if err != nil {
		h.file.Close()
		return nil, err
	}
	go h.serve(raw)
	return h, nil
}

// Close ends the goroutine. The sessions are closed already.
func (h *Host) Close() { h.file.Close() }

// take reports whether there can be one more connection.
func (h *Host) take() bool {
	if h.used.Add(1) <= h.most {
		return true
	}
	h.used.Add(-1)
	return false
}

func (h *Host) serve(raw syscall.RawConn) {
	events := make([]unix.EpollEvent, 16)
	_ = raw.Read(func(fd uintptr) bool {
		for {
			n, err := unix.EpollWait(int(fd), events, 0)
			if err != nil && err != unix.EINTR || n == 0 {
				return false // until the next event, or Close
			}
			for _, e := range events[:max(n, 0)] {
				h.mu.Lock()
				l := h.list[int(e.Fd)]
				h.mu.Unlock()
				if l != nil {
					l.ready()
				}
			}
		}
	})
}

// A listener is a socket in the network namespace of a program.
type listener struct {
	session *Session
	kind    int

	mu sync.Mutex // held while fd is used
	fd int        // -1 when it is closed
}

// listen waits for connections or datagrams of a socket, which it takes.
func (s *Session) listen(fd, kind int) error {
	l := &listener{session: s, kind: kind, fd: fd}
	if !s.add(l, false) {
		return nil
	}
	s.host.mu.Lock()
	s.host.list[fd] = l
	s.host.mu.Unlock()
	return l.arm(unix.EPOLL_CTL_ADD)
}

// arm waits for the next event; of datagrams for one only.
func (l *listener) arm(op int) (err error) {
	events := uint32(unix.EPOLLIN)
	if l.kind == unix.SOCK_DGRAM {
		events |= unix.EPOLLONESHOT
	}
	l.use(func(fd int) {
		err = unix.EpollCtl(l.session.host.poll, op, fd, &unix.EpollEvent{Events: events, Fd: int32(fd)})
	})
	return err
}

// use calls f with the descriptor, unless it is closed.
func (l *listener) use(f func(fd int)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.fd >= 0 {
		f(l.fd)
	}
}

// Close closes the socket, which ends its events.
func (l *listener) Close() error {
	l.use(func(fd int) {
		h := l.session.host
		h.mu.Lock()
		delete(h.list, fd)
		h.mu.Unlock()
		_ = unix.Close(fd)
		l.fd = -1
	})
	return nil
}

// ready is called by the one goroutine, and must not wait.
func (l *listener) ready() {
	if l.kind == unix.SOCK_DGRAM {
		go l.answerDNS() // which may wait for functions of the host
		return
	}
	one, err := -1, error(unix.EBADF)
	l.use(func(fd int) { one, _, err = unix.Accept4(fd, unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC) })
	if err == unix.EMFILE || err == unix.ENFILE {
		time.Sleep(10 * time.Millisecond) // the host has none left, until some connection ends
	}
	if err != nil {
		return
	}
	f := os.NewFile(uintptr(one), "inside")
	c, err := net.FileConn(f)
	f.Close()
	if err == nil && l.session.add(c, true) {
		go l.session.serve(c, c.LocalAddr().(*net.TCPAddr).AddrPort())
	}
}

// answerDNS answers the datagrams that have come.
func (l *listener) answerDNS() {
	for b := make([]byte, 1024); ; {
		var n int
		var from unix.Sockaddr
		err := error(unix.EBADF)
		l.use(func(fd int) { n, from, err = unix.Recvfrom(fd, b, 0) })
		if err == unix.EAGAIN {
			_ = l.arm(unix.EPOLL_CTL_MOD)
		}
		if err != nil {
			return
		}
		if a := l.session.egress.DNS(append([]byte{}, b[:n]...)); a != nil {
			l.use(func(fd int) { _ = unix.Sendto(fd, a, 0, from) })
		}
	}
}
