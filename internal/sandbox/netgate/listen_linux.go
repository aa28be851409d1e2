package netgate

import (
	"errors"
	"fmt"
	"net"
	"strconv"

	"golang.org/x/sys/unix"

	"github.com/toolcell/toolcell/internal/rootfs"
	"github.com/toolcell/toolcell/internal/sandbox/forkexec"
)

// A socket is one to make in another network namespace.
type socket struct {
	kind int
	addr [4]byte
	port int
}

var loopback = [4]byte{127, 0, 0, 1}

// Listen makes the session's listeners in the network namespace of pid, the first
// process of a bubblewrap.
func (s *Session) Listen(pid int) error {
	list := []socket{{unix.SOCK_STREAM, loopback, ProxyPort}, {unix.SOCK_DGRAM, loopback, dnsPort}}
	if len(s.egress.Ports) > maxPorts {
		return fmt.Errorf("%d ports; at most %d", len(s.egress.Ports), maxPorts)
	}
	for _, port := range s.egress.Ports {
		if port != ProxyPort {
			list = append(list, socket{kind: unix.SOCK_STREAM, port: port})
		}
	}
	fds, err := socketsIn(pid, s.user, list)
	if err != nil {
		return fmt.Errorf("network namespace: %w", err)
	}
	for i, fd := range fds {
		err = errors.Join(err, s.listen(fd, list[i].kind))
	}
	return err
}

// enter adds the steps by which a child becomes u and enters the namespaces of pid: first
// the user namespace that owns the network namespace, which is not the program's, since
// bubblewrap makes another one later. A process with threads, as the host, may not enter
// it. Descriptor 0 is the only one that the child keeps, 1 and 2 become namespaces.
func enter(s *forkexec.Steps, pid int, u *rootfs.User, keep int) {
	s.Signals()
	s.Move([]int{keep}, nil)
	if u != nil {
		s.Do(unix.SYS_SETGROUPS, 0, 0)
		s.Do(unix.SYS_SETRESGID, uintptr(u.GID), uintptr(u.GID), uintptr(u.GID))
		s.Do(unix.SYS_SETRESUID, uintptr(u.UID), uintptr(u.UID), uintptr(u.UID))
	}
	s.Do(unix.SYS_CLOSE_RANGE, 1, 1<<31-1, 0)
	here := int64(unix.AT_FDCWD)
	s.Expect(1, unix.SYS_OPENAT, uintptr(here), s.Text("/proc/"+strconv.Itoa(pid)+"/ns/net"), unix.O_RDONLY, 0)
	s.Expect(2, unix.SYS_IOCTL, 1, unix.NS_GET_USERNS)
	s.Do(unix.SYS_SETNS, 2, unix.CLONE_NEWUSER)
	s.Do(unix.SYS_SETNS, 1, unix.CLONE_NEWNET)
}

// socketsIn makes sockets in the network namespace of pid, whose own Addresses become. A
// child of the host's makes them, sends them and ends.
func socketsIn(pid int, u *rootfs.User, list []socket) ([]int, error) {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	defer unix.Close(pair[0])
	defer unix.Close(pair[1])
	s := &forkexec.Steps{}
	enter(s, pid, u, pair[1])
	one := int32(1)
	fds := make([]int, len(list))
	for i, w := range list {
		fds[i] = i + 3
		fd := uintptr(fds[i])
		s.Expect(fd, unix.SYS_SOCKET, unix.AF_INET, uintptr(w.kind), 0)
		s.Do(unix.SYS_SETSOCKOPT, fd, unix.SOL_IP, unix.IP_FREEBIND, forkexec.Pin(s, &one), 4) // lo may not be up yet
		s.Do(unix.SYS_BIND, fd, forkexec.Pin(s, address(w.addr, w.port)), unix.SizeofSockaddrInet4)
		if w.kind == unix.SOCK_STREAM {
			// Within a machine nothing is lost, and a pace (bbr's) only wakes both sides more often.
			s.Try(unix.SYS_SETSOCKOPT, fd, unix.IPPROTO_TCP, unix.TCP_CONGESTION, s.Text("reno"), 4)
			s.Do(unix.SYS_LISTEN, fd, 128)
		}
	}
	rights := unix.UnixRights(fds...)
	forkexec.Pin(s, &rights[0])
	iov := &unix.Iovec{Base: new(byte), Len: 1}
	forkexec.Pin(s, iov.Base)
	forkexec.Pin(s, iov)
	msg := &unix.Msghdr{Iov: iov, Control: &rights[0]}
	msg.SetIovlen(1)
	msg.SetControllen(len(rights))
	s.Do(unix.SYS_SENDMSG, 0, forkexec.Pin(s, msg), 0)
	// All addresses of a network of lo are the namespace's own.
	for i, ip := range [][]byte{Addresses.Addr().Next().AsSlice(), net.CIDRMask(Addresses.Bits(), 32)} {
		alias, err := unix.NewIfreq("lo:1")
		if err == nil {
			err = alias.SetInet4Addr(ip)
		}
		if err != nil {
			return nil, err
		}
		s.Do(unix.SYS_IOCTL, 3, []uintptr{unix.SIOCSIFADDR, unix.SIOCSIFNETMASK}[i], forkexec.Pin(s, alias))
	}
	child, err := s.Run()
	if err != nil {
		return nil, err
	}
	defer forkexec.Reap(child, nil)
	oob := make([]byte, unix.CmsgSpace(4*len(fds)))
	// It was sent: a child without an error to report has made all of its steps.
	_, n, _, _, err := unix.Recvmsg(pair[0], make([]byte, 1), oob, unix.MSG_CMSG_CLOEXEC)
	if err != nil {
		return nil, err
	}
	messages, err := unix.ParseSocketControlMessage(oob[:n])
	if err != nil || len(messages) == 0 {
		return nil, errors.Join(err, errors.New("no sockets came"))
	}
	fds, err = unix.ParseUnixRights(&messages[0])
	for _, fd := range fds {
		_ = unix.SetNonblock(fd, true)
	}
	return fds, err
}

func address(ip [4]byte, port int) *unix.RawSockaddrInet4 {
	return &unix.RawSockaddrInet4{Family: unix.AF_INET, Port: uint16(port>>8 | port<<8), Addr: ip}
}
