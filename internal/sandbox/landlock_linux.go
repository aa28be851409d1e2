package sandbox

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"unsafe"

	"github.com/toolcell/toolcell/internal/sandbox/seccomp"
	"golang.org/x/sys/unix"
)

// landlockABI returns the version of Landlock that the kernel has, or why it
// has none.
func landlockABI() (int, error) {
	v, _, e := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	switch e {
	case 0:
		return int(v), nil
	case unix.ENOSYS:
		return 0, errors.New("the kernel has no Landlock; it needs Linux 5.13 or later, built with CONFIG_SECURITY_LANDLOCK; programs in a sandbox of this package's have none either")
	case unix.EOPNOTSUPP:
		return 0, errors.New("Landlock is disabled; add landlock to the kernel's lsm= boot parameter")
	}
	return 0, fmt.Errorf("Landlock: %w; the container's seccomp profile may forbid it", e)
}

// Rights on files, by what they are good for; see landlock(7).
const (
	rightsRead = unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_READ_DIR
	rightsExec = rightsRead | unix.LANDLOCK_ACCESS_FS_EXECUTE
	rightsDev  = unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	rightsAll  = 1<<13 - 1 | unix.LANDLOCK_ACCESS_FS_REFER | unix.LANDLOCK_ACCESS_FS_TRUNCATE

	rightsWrite  = rightsAll &^ (unix.LANDLOCK_ACCESS_FS_MAKE_CHAR | unix.LANDLOCK_ACCESS_FS_MAKE_BLOCK)
	rightsOfFile = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_READ_FILE |
		unix.LANDLOCK_ACCESS_FS_TRUNCATE | unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
)

// handled returns the rights on files that a version can refuse.
func handled(abi int) uint64 {
	fs := uint64(1<<13 - 1)
	if abi >= 2 {
		fs |= unix.LANDLOCK_ACCESS_FS_REFER
	}
	if abi >= 3 {
		fs |= unix.LANDLOCK_ACCESS_FS_TRUNCATE
	}
	if abi >= 5 {
		fs |= unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	}
	return fs
}

// A ruleset is a Landlock ruleset under construction.
type ruleset struct {
	file *os.File
	fs   uint64
}

// newRuleset returns a ruleset that refuses what abi can refuse: files, TCP unless
// network is set, signals and abstract unix sockets.
func newRuleset(abi int, network bool) (*ruleset, error) {
	attr := struct{ fs, net, scoped uint64 }{fs: handled(abi)}
	// A kernel refuses an attr that is longer than it knows with bytes that are not
	// zero: each version gets its own size.
	size := unsafe.Sizeof(attr.fs)
	if abi >= 4 {
		size += unsafe.Sizeof(attr.net)
		if !network {
			attr.net = unix.LANDLOCK_ACCESS_NET_BIND_TCP | unix.LANDLOCK_ACCESS_NET_CONNECT_TCP
		}
	}
	if abi >= scopesSignals {
		size += unsafe.Sizeof(attr.scoped)
		attr.scoped = unix.LANDLOCK_SCOPE_SIGNAL | unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET
	}
	fd, _, e := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attr)), size, 0)
	if e != 0 {
		return nil, fmt.Errorf("Landlock ruleset: %w", e)
	}
	return &ruleset{os.NewFile(fd, "landlock"), attr.fs}, nil
}

// allow grants rights on path and what is beneath it.
func (r *ruleset) allow(path string, rights uint64) error {
	fd, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	return r.allowAt(fd, rights)
}

// allowAt grants rights on what a descriptor names, and what is beneath it.
func (r *ruleset) allowAt(fd int, rights uint64) error {
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return err
	}
	if st.Mode&unix.S_IFMT != unix.S_IFDIR {
		// A rule about a file with rights of directories is EINVAL
		// (landlock_add_rule(2)).
		rights &= rightsOfFile
	}
	attr := struct {
		access uint64
		fd     int32
		_      int32
	}{access: rights & r.fs, fd: int32(fd)}
	_, _, e := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, r.file.Fd(), unix.LANDLOCK_RULE_PATH_BENEATH, uintptr(unsafe.Pointer(&attr)), 0, 0, 0)
	if e != 0 {
		return e
	}
	return nil
}

// ruleset builds the rules of a plan.
func (s *Sandbox) ruleset(pl *plan) (*os.File, error) {
	r, err := newRuleset(s.abi, s.opts.Network)
	if err != nil {
		return nil, err
	}
	if err = s.allowShared(r, pl); err == nil {
		err = s.allowOwn(r, pl)
	}
	if err != nil {
		r.file.Close()
		return nil, err
	}
	return r.file, nil
}

// allowShared adds the rules of what every program may read and of what the caller
// listed.
func (s *Sandbox) allowShared(r *ruleset, pl *plan) error {
	for _, group := range []struct {
		paths  []string
		rights uint64
	}{
		{s.system.exec, rightsExec}, {s.system.read, rightsRead}, {s.system.bare, rightsRead}, {s.system.dev, rightsDev},
		{pl.ReadOnly, rightsExec}, {pl.Writable, rightsWrite},
	} {
		for _, path := range group.paths {
			// A path that the host itself cannot see gets no rule and stays closed.
			if err := r.allow(path, group.rights); err != nil && !os.IsNotExist(err) && !os.IsPermission(err) {
				return fmt.Errorf("Landlock rule: %w", err)
			}
		}
	}
	for _, l := range s.listed {
		if err := r.allowAt(l.dir.fd(), l.rights()); err != nil {
			return fmt.Errorf("Landlock rule: %w", err)
		}
	}
	return nil
}

// allowOwn adds the rules of the directories that are a plan's own.
func (s *Sandbox) allowOwn(r *ruleset, pl *plan) error {
	err := r.allow(pl.Workdir, rightsWrite)
	for _, dir := range pl.family {
		err = errors.Join(err, r.allow(dir, rightsWrite))
	}
	// The directories of a fork server's children will be made beside its own.
	if dir := s.temp.path(); err == nil && pl.ForkServer && dir != "" {
		err = r.allow(dir, rightsWrite)
	}
	if err == nil && pl.Terminal {
		err = r.allow("/dev/tty", rightsDev) // its own
	}
	if err == nil && pl.Cwd != nil {
		err = r.allowAt(pl.Cwd.fd(), rightsWrite)
	}
	if err != nil {
		return fmt.Errorf("working directory: %w", err)
	}
	return nil
}

// noGroup is the id of no process group.
const noGroup = 1<<31 - 1

// A lastFilter is the filter that was built last: most processes are put under the same.
type lastFilter struct {
	mu     sync.Mutex
	policy seccomp.Policy
	filter seccomp.Filter
}

// of returns the filter of a policy.
func (l *lastFilter) of(p seccomp.Policy) seccomp.Filter {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.filter == nil || l.policy != p {
		l.policy, l.filter = p, p.Build()
	}
	return l.filter
}

// policy returns what a plan's program may call in landlock mode, in the
// process group.
func (s *Sandbox) policy(pl *plan, group int) seccomp.Policy {
	switch {
	case pl.ForkServer:
		// It puts its children into groups of theirs, which pin would keep it from.
		group = 0
	case pl.Terminal || pl.family != nil:
		// A terminal's id is not known yet, and that of a copy is another; their children
		// have no reason to join one.
		group = noGroup
	}
	return seccomp.Policy{Terminal: pl.Terminal, Forks: pl.family != nil, Network: s.opts.Network, Egress: pl.Egress != nil, Shared: true, Group: group, SameUID: !alone(pl), ABI: s.abi}
}

// scopesSignals is the first version of Landlock that limits signals.
const scopesSignals = 6

// signalsBlocked says why programs could signal the host, unless that is allowed.
// Those of another uid cannot.
func (s *Sandbox) signalsBlocked() error {
	if s.abi >= scopesSignals || s.ids != nil || s.opts.AllowSignals {
		return nil
	}
	return fmt.Errorf("programs could signal the host, since Landlock limits that only from Linux 6.12 on (version %d of Landlock, here %d); allow it explicitly, or have the host run as root, which gives programs another uid", scopesSignals, s.abi)
}

func (s *Sandbox) probeLandlock() error {
	abi, err := landlockABI()
	if err != nil {
		return err
	}
	s.abi = abi
	if err := s.signalsBlocked(); err != nil {
		return err
	}
	return s.selfTest()
}
