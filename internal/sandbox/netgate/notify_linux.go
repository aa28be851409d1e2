package netgate

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/toolcell/toolcell/internal/procfs"
	"github.com/toolcell/toolcell/internal/sandbox/seccomp"
)

// Requests of seccomp_unotify(2).
const (
	notifyReceive = 0xc0502100
	notifySend    = 0xc0182101
	notifyValid   = 0x40082102
	notifyAddFD   = 0x40182103

	flagNewListener = 8 // SECCOMP_FILTER_FLAG_NEW_LISTENER
	flagSend        = 2 // SECCOMP_ADDFD_FLAG_SEND, Linux 5.14
	flagContinue    = 1 // SECCOMP_USER_NOTIF_FLAG_CONTINUE: the call is made
)

// A question is struct seccomp_notif: a system call that waits for an answer.
type question struct {
	id         uint64
	pid, flags uint32
	nr         int32
	arch       uint32
	ip         uint64
	args       [6]uint64
}

// An addFD is struct seccomp_notif_addfd: a descriptor to be made in a program.
type addFD struct {
	id                      uint64
	flags, from, to, toFlag uint32
}

// A Notifier answers the calls of socket and connect of programs without a network
// namespace, by the process groups that they cannot leave, and lets their copies into other
// groups.
type Notifier struct {
	file *os.File
	raw  syscall.RawConn

	mu       sync.Mutex
	programs map[int]*program
	moves    map[int]move // by the group that is left
}

// A move is that one process may go to another group.
type move struct {
	to    int
	start uint64 // when the process began that was let in; 0 before
}

// A program is a group's.
type program struct {
	*Session
	pending map[uint64]*pending // by inode
}

// A pending is a socket that the program has not connected yet. The notifier's mutex
// guards dst.
type pending struct {
	conn *net.UnixConn
	dst  netip.AddrPort
}

// NewNotifier puts the calling thread, and what it forks from now on, under a filter
// that asks for the calls that egress and forks need. The thread itself must make none.
func NewNotifier(egress, forks bool) (*Notifier, error) {
	f := seccomp.Notify(egress, forks)
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return nil, err
	}
	prog := unix.SockFprog{Len: uint16(len(f)), Filter: &f[0]}
	fd, _, e := unix.Syscall(unix.SYS_SECCOMP, 1, flagNewListener, uintptr(unsafe.Pointer(&prog)))
	if e == unix.EBUSY {
		return nil, errors.New("the container answers system calls by seccomp notification, and a program can have one such listener")
	} else if e != 0 {
		return nil, fmt.Errorf("seccomp notification: %w", e)
	}
	_ = unix.SetNonblock(int(fd), true)
	n := &Notifier{file: os.NewFile(fd, "seccomp"), programs: map[int]*program{}, moves: map[int]move{}}
	var err error
	if n.raw, err = n.file.SyscallConn(); err != nil {
		n.file.Close()
		return nil, err
	}
	// No descriptor to give: a kernel that knows the flag says EBADF.
	if err := n.ioctl(notifyAddFD, unsafe.Pointer(&addFD{flags: flagSend, from: ^uint32(0)})); err != unix.EBADF {
		n.file.Close()
		return nil, fmt.Errorf("seccomp notification: it needs Linux 5.14 (%w)", err)
	}
	go n.serve()
	return n, nil
}

// Close ends the notifier. Calls that wait fail with ENOSYS.
func (n *Notifier) Close() { n.file.Close() }

// Add lets the programs of a group have connections, which are the session's.
func (n *Notifier) Add(group int, s *Session) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.programs[group] = &program{s, map[uint64]*pending{}}
}

// Remove undoes Add and Admit.
func (n *Notifier) Remove(group int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.programs, group)
	delete(n.moves, group)
}

// Admit lets one process of a group, by a call of its own, into another group.
func (n *Notifier) Admit(group, to int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.moves[group] = move{to: to}
}

// Revoke undoes Admit. It returns the start time of the process that was let in, or is about
// to be; 0 if there is none.
func (n *Notifier) Revoke(group int) uint64 {
	n.mu.Lock()
	defer n.mu.Unlock()
	start := n.moves[group].start
	delete(n.moves, group)
	return start
}

// setGroup answers a call of setpgid: but for a process that goes where its group was
// admitted it does nothing.
func (n *Notifier) setGroup(q *question, group int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	m, ok := n.moves[group]
	st, err := procfs.Read(int(q.pid))
	if !ok || m.start != 0 || uint32(q.args[0]) != q.pid || uint32(q.args[1]) != uint32(m.to) || err != nil || !n.valid(q) {
		n.reply(q, 0)
		return
	}
	if n.send(&answer{id: q.id, flags: flagContinue}) == nil {
		m.start = st.Start
		n.moves[group] = m
	}
}

func (n *Notifier) serve() {
	_ = n.raw.Read(func(fd uintptr) bool {
		for readable(fd) {
			var q question
			if _, _, e := unix.Syscall(unix.SYS_IOCTL, fd, notifyReceive, uintptr(unsafe.Pointer(&q))); e == 0 {
				n.answer(&q)
			}
		}
		return false // until Close
	})
}

// readable reports whether a descriptor has something to read, or its other end is closed.
func readable(fd uintptr) bool {
	fds := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN | unix.POLLRDHUP}}
	k, err := unix.Poll(fds, 0)
	return err == nil && k > 0 && fds[0].Revents&(unix.POLLIN|unix.POLLRDHUP) != 0
}

func (n *Notifier) ioctl(request uintptr, arg unsafe.Pointer) error {
	var e unix.Errno
	err := n.raw.Control(func(fd uintptr) { _, _, e = unix.Syscall(unix.SYS_IOCTL, fd, request, uintptr(arg)) })
	if err == nil && e != 0 {
		err = e
	}
	return err
}

// An answer is struct seccomp_notif_resp.
type answer struct {
	id    uint64
	value int64
	err   int32
	flags uint32
}

func (n *Notifier) send(a *answer) error { return n.ioctl(notifySend, unsafe.Pointer(a)) }

// reply makes the call return 0, or fail with e.
func (n *Notifier) reply(q *question, e unix.Errno) { _ = n.send(&answer{id: q.id, err: -int32(e)}) }

// valid reports whether the call still waits, so that all that was read of its thread
// before is true of it.
func (n *Notifier) valid(q *question) bool { return n.ioctl(notifyValid, unsafe.Pointer(&q.id)) == nil }

func (n *Notifier) answer(q *question) {
	group, err := unix.Getpgid(int(q.pid))
	n.mu.Lock()
	p := n.programs[group]
	n.mu.Unlock()
	kind := q.args[1]
	switch {
	case err == nil && q.nr == unix.SYS_SETPGID:
		n.setGroup(q, group)
	case err != nil || p == nil || !n.valid(q):
		n.reply(q, unix.EPERM)
	case q.nr == unix.SYS_CONNECT:
		go func() { n.reply(q, n.connect(q, p)) }() // its memory may take time to read
	case kind&0xf != unix.SOCK_STREAM || q.args[2] != 0 && q.args[2] != unix.IPPROTO_TCP:
		n.reply(q, unix.EPROTONOSUPPORT)
	default:
		if e := n.socket(q, p, int(kind)); e != 0 {
			n.reply(q, e)
		}
	}
}

// socket answers with one end of a pair. It is a unix pair, so that the program has no
// internet socket; the filter makes options of TCP succeed on it.
func (n *Notifier) socket(q *question, p *program, kind int) unix.Errno {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return unix.EMFILE
	}
	defer unix.Close(pair[0])
	_ = unix.SetNonblock(pair[0], kind&unix.SOCK_NONBLOCK != 0)
	f := os.NewFile(uintptr(pair[1]), "pair")
	c, err := net.FileConn(f)
	f.Close()
	if err != nil || !p.add(c, true) {
		return unix.EMFILE
	}
	var st unix.Stat_t
	_ = unix.Fstat(pair[0], &st)
	w := &pending{conn: c.(*net.UnixConn)}
	n.mu.Lock()
	p.pending[st.Ino] = w
	n.mu.Unlock()
	a := addFD{id: q.id, flags: flagSend, from: uint32(pair[0])}
	if kind&unix.SOCK_CLOEXEC != 0 {
		a.toFlag = unix.O_CLOEXEC
	}
	if err := n.ioctl(notifyAddFD, unsafe.Pointer(&a)); err != nil {
		p.remove(c)
		n.forget(p, st.Ino, w)
		if e, ok := err.(unix.Errno); ok {
			return e
		}
		return unix.EPERM
	}
	go n.await(p, st.Ino, w)
	return 0
}

// forget removes a pending, and returns the destination that it has.
func (n *Notifier) forget(p *program, inode uint64, w *pending) netip.AddrPort {
	n.mu.Lock()
	defer n.mu.Unlock()
	if p.pending[inode] == w {
		delete(p.pending, inode)
	}
	return w.dst
}

// await serves a connection from when its destination is known, or, if the host cannot
// see that, from when the program writes.
func (n *Notifier) await(p *program, inode uint64, w *pending) {
	if raw, err := w.conn.SyscallConn(); err == nil {
		_ = raw.Read(readable) // connect ends it by a deadline
	}
	dst := n.forget(p, inode, w)
	_ = w.conn.SetReadDeadline(time.Time{})
	p.serve(w.conn, dst)
}

// connect returns how a call of connect ends. The proxy, DNS and Addresses are all that
// there is.
func (n *Notifier) connect(q *question, p *program) unix.Errno {
	task := "/proc/" + strconv.Itoa(int(q.pid))
	var st unix.Stat_t
	var statErr, err error
	var mem *os.File
	// What is of a process in /proc is open to its user, and to root only with
	// CAP_SYS_PTRACE.
	asUser := p.user.Do(func() {
		statErr = unix.Stat(task+"/fd/"+strconv.Itoa(int(int32(q.args[0]))), &st)
		mem, err = os.Open(task + "/mem")
	})
	if asUser != nil || os.IsPermission(statErr) || os.IsPermission(err) {
		return 0 // the destination stays unknown
	}
	var sa [unix.SizeofSockaddrInet4]byte
	if err == nil {
		_, err = mem.ReadAt(sa[:], int64(q.args[1]))
		mem.Close()
	}
	switch {
	case !n.valid(q):
		return unix.EPERM
	case statErr != nil:
		return unix.EBADF
	case err != nil:
		return unix.EFAULT
	case uint16(sa[0])|uint16(sa[1])<<8 != unix.AF_INET:
		return unix.EAFNOSUPPORT
	}
	dst := netip.AddrPortFrom(netip.AddrFrom4([4]byte(sa[4:8])), uint16(sa[2])<<8|uint16(sa[3]))
	switch {
	case dst.Addr().IsLoopback() && dst.Port() != ProxyPort && dst.Port() != dnsPort && !slices.Contains(p.egress.Ports, int(dst.Port())):
		return unix.ECONNREFUSED
	case !dst.Addr().IsLoopback() && !Addresses.Contains(dst.Addr()):
		return unix.ENETUNREACH
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	w := p.pending[st.Ino]
	if w == nil {
		return unix.EISCONN
	}
	w.dst = dst
	_ = w.conn.SetReadDeadline(time.Unix(1, 0))
	return 0
}
