package keeper

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/toolcell/toolcell/internal/procfs"
)

// told are the lines of a process's status that say what it may do.
var told = []string{"Umask", "Uid", "Gid", "Groups", "CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb",
	"NoNewPrivs", "Seccomp", "Seccomp_filters", "Cpus_allowed", "Mems_allowed"}

var namespaces = []string{"cgroup", "ipc", "mnt", "net", "pid", "pid_for_children", "time", "user", "uts"}

// Standing says what the kernel lets this process do and take, in a form of which
// only equality counts.
func Standing() (string, error) { return standing(os.Getpid()) }

// standing fails where this process may not look at the other one, as one in a
// Landlock domain may not at one outside of it.
func standing(pid int) (string, error) {
	var b strings.Builder
	status, err := procfs.File(pid, "status")
	if err != nil {
		return "", err
	}
	for line := range bytes.Lines(status) {
		if name, _, ok := strings.Cut(string(line), ":"); ok && isTold(name) {
			b.Write(line)
		}
	}
	for _, name := range []string{"limits", "cgroup", "attr/current"} {
		text, err := procfs.File(pid, name)
		if err != nil && name != "attr/current" { // there is none without a security module
			return "", err
		}
		b.Write(text)
	}
	for _, name := range namespaces {
		to, err := os.Readlink("/proc/" + strconv.Itoa(pid) + "/ns/" + name)
		if err != nil && !os.IsNotExist(err) {
			return "", err
		}
		b.WriteString(to + "\n")
	}
	root, err := identity("/proc/" + strconv.Itoa(pid) + "/root")
	if err != nil {
		return "", err
	}
	nice, err := unix.Getpriority(unix.PRIO_PROCESS, pid)
	fmt.Fprintf(&b, "%s %d", root, nice)
	return b.String(), err
}

func isTold(name string) bool {
	for _, t := range told {
		if t == name {
			return true
		}
	}
	return false
}

// identity tells one file or directory from another that has its path.
func identity(path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return "", errUnsupported
	}
	return fmt.Sprintf("%d:%d", st.Dev, st.Ino), nil
}

// A peer is the process at the other end of a connection.
type peer struct {
	pid, uid int
	fd       int // that holds its pid, -1 where the kernel has none
}

func peerOf(conn syscall.Conn) (p peer, err error) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return p, err
	}
	p.fd = -1
	var of *unix.Ucred
	ctlErr := raw.Control(func(fd uintptr) {
		of, err = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
		if held, none := unix.GetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_PEERPIDFD); none == nil {
			p.fd = held
		}
	})
	if ctlErr != nil {
		return p, ctlErr
	}
	if err != nil {
		p.close()
		return p, err
	}
	p.pid, p.uid = int(of.Pid), int(of.Uid)
	return p, nil
}

func (p *peer) close() {
	if p.fd >= 0 {
		unix.Close(p.fd)
	}
}

// own checks that the process is this user's.
func (p *peer) own() error {
	if p.uid != os.Geteuid() || p.pid <= 0 {
		return fmt.Errorf("process %d is user %d's", p.pid, p.uid)
	}
	return nil
}

// stands checks that the process is this user's and may do what own says.
func (p *peer) stands(own string) error {
	if err := p.own(); err != nil {
		return err
	}
	its, err := standing(p.pid)
	if err != nil {
		return fmt.Errorf("process %d cannot be looked at: %w", p.pid, err)
	}
	// The number may by now be that of another process.
	if p.fd >= 0 && unix.PidfdSendSignal(p.fd, 0, nil, 0) != nil {
		return fmt.Errorf("process %d has ended", p.pid)
	}
	if its != own {
		return fmt.Errorf("process %d has other rights", p.pid)
	}
	return nil
}
