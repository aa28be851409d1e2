package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/toolcell/toolcell/codeinterp"

	"github.com/toolcell/toolcell/internal/sandbox/seccomp"
)

// maxTmp bounds each of the private /tmp and /dev/shm, which are in memory.
const maxTmp = 256 << 20

// maxSetup is how long bubblewrap may take, on a machine that is overloaded, to
// make its namespaces.
const maxSetup = 30 * time.Second

// findBwrap returns the path of bubblewrap. The distribution's own comes first: security
// modules know it by its path.
func findBwrap() (string, error) {
	for _, name := range []string{"/usr/bin/bwrap", "bwrap"} {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", errors.New("there is no bwrap; install bubblewrap (apt install bubblewrap, dnf install bubblewrap)")
}

func (s *Sandbox) probeBwrap() error {
	if !seccomp.Supported {
		return errors.New("there is no seccomp filter for this architecture")
	}
	path, err := findBwrap()
	if err != nil {
		return err
	}
	help, _ := exec.Command(path, "--help").CombinedOutput()
	if !strings.Contains(string(help), "--ro-bind-fd ") {
		return errors.New("bubblewrap is too old to hold a directory (it has no --bind-fd); update it")
	}
	s.bwrap = path
	if err = s.selfTest(); err != nil {
		err = fmt.Errorf("%w; user namespaces may be disabled (kernel.unprivileged_userns_clone, kernel.apparmor_restrict_unprivileged_userns, a container's seccomp profile)", err)
	}
	return err
}

// closedProc are files of /proc that reveal, in a namespace too, the keys of the host's
// user and the addresses of the kernel.
var closedProc = []string{"/proc/keys", "/proc/key-users", "/proc/kallsyms", "/proc/kcore", "/proc/timer_list", "/proc/sched_debug"}

// bwrapArgs returns bubblewrap's options for a plan; seccomp, block and info are
// descriptors. There is no new session: the kernel schedules a session as a group (see
// autogroup in sched(7)), and on a busy machine a new one starts several times slower.
// Instead /dev/tty is no terminal, and the filter refuses input for terminals.
func (s *Sandbox) bwrapArgs(pl *plan, list []bind, seccomp, block, info int) []string {
	tmp := maxTmp
	if pl.limits.Memory > 0 {
		// Their content is memory that is counted for no process.
		tmp = int(min(maxTmp, pl.limits.Memory/4))
	}
	size := strconv.Itoa(tmp)
	a := []string{
		"--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try",
		"--die-with-parent", "--cap-drop", "ALL",
		"--uid", "1000", "--gid", "1000", "--hostname", "sandbox", "--clearenv",
	}
	if !s.opts.Network {
		a = append(a, "--unshare-net")
	}
	for _, kv := range pl.Env {
		if k, v, ok := strings.Cut(kv, "="); ok {
			a = append(a, "--setenv", k, v)
		}
	}
	a = append(a, "--proc", "/proc")
	for _, path := range closedProc {
		if _, err := os.Lstat(path); err == nil {
			a = append(a, "--ro-bind", "/dev/null", path)
		}
	}
	a = append(a, "--dev", "/dev", "--ro-bind", "/dev/null", "/dev/tty", "--size", size, "--tmpfs", "/dev/shm", "--size", size, "--tmpfs", "/tmp")
	a = append(a, s.system.binds()...)
	for _, b := range list {
		a = append(a, b.args()...)
	}
	start := workspace
	if pl.Cwd != nil {
		start = pl.Cwd.Path()
		// A link, so that files are not lost which programs write there by habit.
		if !slices.ContainsFunc(list, func(b bind) bool { return b.path == workspace || strings.HasPrefix(b.path, workspace+"/") }) {
			a = append(a, "--symlink", start, workspace)
		}
	}
	// Read-only at the end: the places of all mounts are made in these before.
	return append(a, "--bind", pl.Workdir, s.WorkdirInside(pl.Workdir, pl.Cwd), "--remount-ro", "/dev", "--remount-ro", "/", "--chdir", start,
		"--seccomp", strconv.Itoa(seccomp), "--block-fd", strconv.Itoa(block), "--info-fd", strconv.Itoa(info))
}

// binds shows the system's files, with its symbolic links (/bin and the like)
// as they are.
func (p paths) binds() []string {
	var a []string
	for _, path := range p.exec {
		info, err := os.Lstat(path)
		switch {
		case err != nil:
		case info.Mode()&fs.ModeSymlink != 0:
			if target, err := os.Readlink(path); err == nil {
				a = append(a, "--symlink", target, path)
			}
		default:
			a = append(a, "--ro-bind", path, path)
		}
	}
	for _, path := range p.read {
		if _, err := os.Stat(path); err == nil {
			a = append(a, "--ro-bind-try", path, path)
		}
	}
	return a
}

// A gate holds a program of bubblewrap's until its limits are set.
type gate struct {
	base  int        // the first descriptor
	files []*os.File // what bwrap gets from it on
	own   []*os.File // what close closes
	info  *os.File   // what bwrap writes
	block *os.File   // the ends of a pipe, bwrap's and the host's
	open  *os.File
}

func (g *gate) close() {
	for _, f := range g.own {
		f.Close()
	}
}

// pass returns the number that a file will have.
func (g *gate) pass(f *os.File) int {
	g.files = append(g.files, f)
	return g.base + len(g.files) - 1
}

// passText passes a file in memory.
func (g *gate) passText(text string) (int, error) {
	fd, err := unix.MemfdCreate("bwrap", unix.MFD_CLOEXEC)
	if err != nil {
		return -1, err
	}
	f := os.NewFile(uintptr(fd), "bwrap")
	g.own = append(g.own, f)
	_, err = f.WriteAt([]byte(text), 0) // the position stays
	return g.pass(f), bare(err)
}

// newGate makes the descriptors that bwrap gets from base on, the last of which has its
// arguments.
func (s *Sandbox) newGate(pl *plan, base int) (*gate, error) {
	g := &gate{base: base}
	var err error
	if g.block, g.open, err = os.Pipe(); err != nil {
		return nil, err
	}
	g.own = append(g.own, g.block, g.open)
	block := g.pass(g.block)
	info, err1 := g.passText("")
	g.info = g.own[len(g.own)-1]
	// The namespace closes the network; within it loopback is to work.
	filter, err2 := g.passText(string(seccomp.Policy{Network: true, Monitored: true}.Build().Bytes()))
	err = errors.Join(err1, err2)
	list := s.binds(pl)
	var options []string
	for _, e := range s.etc(pl, list) {
		fd, err3 := g.passText(e.text)
		err = errors.Join(err, err3)
		// First, before the root directory becomes read-only.
		options = append(options, "--ro-bind-data", strconv.Itoa(fd), e.path)
	}
	for i, b := range list {
		if b.dir != nil {
			list[i].fd = g.pass(b.dir.file)
		}
	}
	options = append(options, s.bwrapArgs(pl, list, filter, block, info)...)
	_, err4 := g.passText(strings.Join(options, "\x00") + "\x00")
	if err = errors.Join(err, err4); err != nil {
		g.close()
	}
	return g, err
}

// An etcFile is a file of /etc that is not the host's.
type etcFile struct{ path, text string }

// etc returns what programs need to know of their own user and host: libraries look them
// up, and without network localhost is the only host. A path that the caller listed
// shows the host's file.
func (s *Sandbox) etc(pl *plan, listed []bind) []etcFile {
	hosts := "files"
	list := []etcFile{
		{"/etc/passwd", "user:x:1000:1000:user:" + s.WorkdirInside(pl.Workdir, pl.Cwd) + ":/bin/sh\n"},
		{"/etc/group", "user:x:1000:\n"},
	}
	if pl.Egress != nil {
		list = append(list, etcFile{"/etc/resolv.conf", "nameserver 127.0.0.1\n"})
		hosts = "files dns"
	}
	if !s.opts.Network {
		list = append(list,
			etcFile{"/etc/hosts", "127.0.0.1 localhost sandbox\n::1 localhost\n"},
			etcFile{"/etc/nsswitch.conf", "passwd: files\ngroup: files\nhosts: " + hosts + "\nservices: files\n"})
	}
	return slices.DeleteFunc(list, func(e etcFile) bool {
		return slices.ContainsFunc(listed, func(b bind) bool { return b.path == e.path || b.path == filepath.Dir(e.path) })
	})
}

// startBwrap starts bubblewrap, sets the limits of the first process of the
// new namespaces, and lets it run the program.
func (s *Sandbox) startBwrap(p *proc, sp *spawn) error {
	if p.plan.ForkServer {
		return fmt.Errorf("%w: fork servers do not work in bwrap mode", codeinterp.ErrInvalid)
	}
	group, err := s.anchors.get()
	if err != nil {
		return err
	}
	g, err := s.newGate(p.plan, len(sp.fds))
	if err != nil {
		s.anchors.put(group)
		return err
	}
	// The host's end of the gate goes with it, and a bubblewrap that still waits
	// there reads its end.
	defer g.close()
	sp.fds = append(sp.fds, descriptors(g.files, nil)...)
	sp.args = append([]string{"bwrap", "--args", strconv.Itoa(len(sp.fds) - 1), "--", sp.path}, sp.args[1:]...)
	// bubblewrap itself runs outside: the program's environment is among its options.
	sp.path, sp.env, sp.dir, sp.cwd = s.bwrap, environ, "/", nil
	sp.rlimits = s.limitsOutside(p.plan)
	sp.group, sp.tied = group, true
	// Not to be reaped before open is done with its id.
	ready := make(chan struct{})
	if err := sp.start(&s.forks, func() { <-ready; p.reaped() }); err != nil {
		s.anchors.put(group)
		return err
	}
	p.begin(sp)
	err = s.open(p, g)
	close(ready)
	// It ended while it was being looked at.
	if errors.Is(err, unix.ESRCH) || errors.Is(err, unix.EPIPE) {
		err = errEndedEarly
	}
	if err != nil {
		p.kill()
		<-p.done
		if s.Reachable(filepath.Dir(p.plan.Workdir)) != nil {
			return fmt.Errorf("%w: %w", codeinterp.ErrUnavailable, errClosed)
		}
		return fmt.Errorf("%w: bubblewrap: %w", codeinterp.ErrIsolation, err)
	}
	return nil
}

// open waits until bwrap has made the namespaces, sets the limits inside, opens
// the gate, and waits until the program is there. The namespaces are tied to
// bubblewrap a moment after that, and their first process, which the group
// holds from the start, takes all of them along.
func (s *Sandbox) open(p *proc, g *gate) error {
	init, err := g.child(p.pid)
	if err != nil {
		return err
	}
	ns, err := openNamespace(init, p.pid)
	if err != nil {
		return err
	}
	p.mu.Lock()
	p.ns = ns
	if p.killed {
		// Close came before there was anything but bubblewrap itself to kill.
		ns.kill()
	}
	p.mu.Unlock()
	if err := s.confine(p, init); err != nil {
		return err
	}
	if err := p.listenInside(init); err != nil {
		return err
	}
	preferVictim(p.pid)
	preferVictim(init)
	s.watch.add(p)
	if err := s.limitInside(p.plan, init); err != nil {
		return err
	}
	if _, err := g.open.Write([]byte{1}); err != nil {
		return bare(err)
	}
	// A program can end before it is found; then the byte of the gate was taken.
	if !p.discover() && g.shut() && !p.wasKilled() {
		return errEndedEarly
	}
	return nil
}

// errEndedEarly is the error of a bubblewrap that refused, for example because a link is
// in the place of a directory that it has to show.
var errEndedEarly = errors.New("it ended before the program began; what it said is in the program's standard error")

// shut reports whether the byte that opened the gate was not read.
func (g *gate) shut() bool {
	n, err := unix.IoctlGetInt(int(g.block.Fd()), unix.TIOCINQ)
	return err == nil && n > 0
}

// child waits until bwrap has reported the id of its child.
func (g *gate) child(bwrap int) (int, error) {
	var info struct {
		Init int `json:"child-pid"`
	}
	b := make([]byte, 1024)
	if until(bwrap, func() bool {
		n, _ := g.info.ReadAt(b, 0)
		return json.Unmarshal(b[:n], &info) == nil && info.Init > 0
	}) {
		return info.Init, nil
	}
	return 0, errEndedEarly
}
