package sandbox

import (
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
// descriptors. There is no new session but for a
// terminal's: the kernel schedules a session as a group (see
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
	a = append(a, "--dev", "/dev")
	if !pl.Terminal {
		a = append(a, "--ro-bind", "/dev/null", "/dev/tty")
	}
	a = append(a, "--size", size, "--tmpfs", "/dev/shm", "--size", size, "--tmpfs", "/tmp")
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
