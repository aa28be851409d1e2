package sandbox

import (
	"cmp"
	"os"
	"strings"

	"github.com/toolcell/toolcell/internal/probecache"
)

// A Mode is a way of isolating processes, weakest first.
type Mode int

// The modes. Auto is only used in Options.
const (
	Auto Mode = iota
	None
	Landlock
	Bwrap
)

// String returns "auto", "none", "landlock" or "bwrap".
func (m Mode) String() string {
	if m < Auto || m > Bwrap {
		return "unknown"
	}
	return [...]string{"auto", "none", "landlock", "bwrap"}[m]
}

// Options configures a Sandbox. The zero value is ready to use: the strongest
// mode that works, no network, no files but the system's, default limits.
type Options struct {
	// Require is the mode to use; New fails where it does not work. Auto
	// takes the strongest that does, None only if AllowNone is set.
	Require   Mode
	AllowNone bool

	// AllowSignals takes landlock mode also where programs can signal, and so
	// kill, the host and other processes of its user: under the host's own
	// uid on kernels before 6.12, whose Landlock knows nothing of signals.
	AllowSignals bool

	// Network lets programs use the network of the host, which includes
	// services on localhost and, in a cloud, its metadata service. Unix
	// sockets stay closed except in none mode.
	Network bool

	// Egress prepares for Cmd.Egress. New fails with ErrIsolation in a mode that cannot
	// keep it: none mode, and landlock mode before Linux 5.14 or in a container whose
	// runtime uses seccomp notification. It excludes Network.
	Egress bool

	// Forks prepares for copies of processes that start in a directory of FamilyDir; see
	// [Sandbox.Fork]. New fails in bwrap mode, which Auto passes over, and in a container
	// whose runtime uses seccomp notification.
	Forks bool

	// ReadOnly and Writable list files and directories of the host that
	// programs may read and execute, or also change, at the same paths.
	// Programs, libraries and certificates of the system (/usr and the like)
	// are always readable. Paths that do not exist are ignored. None mode
	// cannot enforce them. What of ReadOnly only root reaches is shown to
	// programs of a root host where that can be done; see [Sandbox.Show].
	ReadOnly, Writable []string

	// Limits applies to every process; zero fields mean DefaultLimits.
	Limits Limits

	// Cgroup is a cgroup v2 directory that is delegated to this process, has
	// no processes of its own and has the memory and pids controllers; each
	// process gets a subdirectory. Empty means the parent of the host's own
	// cgroup where that is delegated to its user.
	Cgroup string

	// TempDir is where TempDir makes directories. Empty means os.TempDir.
	TempDir string

	// Probes, if set, keeps which modes work here from one process to the next.
	Probes *probecache.Cache
}

// A Limits bounds what one process and its descendants may use. In Options,
// zero means the default; in Cmd, zero means what Options has; -1 means no
// limit.
type Limits struct {
	Memory    int64 // bytes of memory in all, and of private data per process
	Processes int   // processes and threads
	CPU       int64 // seconds of CPU time in all
	FileSize  int64 // bytes of the largest file
	Disk      int64 // bytes on disk in the working directory
	Inodes    int   // files and directories in the working directory
	OpenFiles int   // descriptors per process
}

// DefaultLimits returns what zero fields of Options.Limits mean: 2 GiB of
// memory, 256 processes, files of 512 MiB, 1 GiB in 100,000 files, 1024
// descriptors, and no limit on CPU time.
func DefaultLimits() Limits {
	return Limits{
		Memory:    2 << 30,
		Processes: 256,
		CPU:       -1,
		FileSize:  512 << 20,
		Disk:      1 << 30,
		Inodes:    100_000,
		OpenFiles: 1024,
	}
}

// or fills l's zero fields from d.
func (l Limits) or(d Limits) Limits {
	return Limits{
		Memory:    cmp.Or(l.Memory, d.Memory),
		Processes: cmp.Or(l.Processes, d.Processes),
		CPU:       cmp.Or(l.CPU, d.CPU),
		FileSize:  cmp.Or(l.FileSize, d.FileSize),
		Disk:      cmp.Or(l.Disk, d.Disk),
		Inodes:    cmp.Or(l.Inodes, d.Inodes),
		OpenFiles: cmp.Or(l.OpenFiles, d.OpenFiles),
	}
}

// A Cmd describes a process to start.
type Cmd struct {
	// Path is the absolute path of the program; Args its arguments with the
	// name first. No Args means just Path.
	Path string
	Args []string

	// Env is the whole environment; see [Sandbox.Env].
	Env []string

	// Workdir is a directory of the host, private to this process or shared
	// by those of one context: the program's working directory and the only
	// one it may change, unless more are listed. Where the host is root, a
	// directory of [Sandbox.TempDir] is handed over to the program's uid;
	// any other must belong to a user already, as whom the program then
	// runs. Programs see it at [Sandbox.WorkdirInside].
	Workdir string

	// Cwd, if set, is the directory that the program starts in instead, and may change: a
	// directory of another user. If the host is root, the
	// program runs as its owner, to whom Workdir is handed over. If the owner is root, the
	// program runs as a uid that belongs to the directory, whose access list (see acl(5))
	// lets that uid list it and make files in it from then on; files of root's in it stay
	// as they are. Start fails with ErrInvalid if
	// Cwd.Path leads to another directory.
	Cwd *Dir

	// Files become descriptors 0, 1, 2, ... of the program, which has no
	// others. A nil entry, and what is missing of the first three, is
	// /dev/null. The caller closes its copies.
	Files []*os.File

	// Terminal says that the first of Files is a terminal, which becomes the program's
	// controlling one: it leads a session of its own. In landlock mode there is no job
	// control: programs cannot ask for or set the terminal's process group.
	Terminal bool

	// ReadOnly and Writable add to those of Options.
	ReadOnly, Writable []string

	// Limits overrides fields of Options.Limits.
	Limits Limits

	// Egress, if set, answers what the program and what it starts connect to: the proxy
	// on 127.0.0.1:ProxyPort, and Addresses. There is no other way out. Connections end
	// with the program. In bwrap mode DNS is asked over UDP, and programs have servers on
	// loopback of their own. In landlock mode programs have no UDP, so that only
	// resolvers that use TCP find names (glibc does), and no servers. For a ForkServer it
	// only lets its children have one.
	Egress *Egress

	// ForkServer starts a trusted program that forks others; see
	// [Sandbox.Fork]. It may make process groups, and its children narrow
	// their isolation themselves. Not in bwrap mode.
	ForkServer bool
}

const user = "user"

// environ is the environment that every program starts with; HOME and TMPDIR
// come on top. More threads than this only make small programs slower, and
// count against the limits.
var environ = []string{
	"PATH=/usr/local/bin:/usr/bin:/bin",
	"LANG=C.UTF-8",
	"LOGNAME=" + user, // the uid has no name that a program could look up
	"USER=" + user,
	"OPENBLAS_NUM_THREADS=1",
	"OMP_NUM_THREADS=1",
	"MALLOC_ARENA_MAX=2",
}

// Env returns a clean environment for a program whose Cmd.Workdir is workdir, and
// whose Cmd.Cwd is cwd, which may be nil: PATH, HOME, TMPDIR, LANG, a name for the user and what keeps native libraries small, with extra
// added or replacing. Nothing of the host's environment is in it.
func (s *Sandbox) Env(workdir string, cwd *Dir, extra map[string]string) []string {
	inside := s.WorkdirInside(workdir, cwd)
	tmp := inside
	if s.mode == Bwrap {
		tmp = "/tmp"
	}
	var env []string
	own := append(environ[:len(environ):len(environ)], "HOME="+inside, "TMPDIR="+tmp)
	if !has(extra, "GIT_CONFIG_COUNT") {
		// A project may belong to another user than the program's.
		own = append(own, "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=safe.directory", "GIT_CONFIG_VALUE_0=*")
	}
	if s.mode == Landlock {
		// These take a system file that they may not read for an error.
		own = append(own, "GIT_CONFIG_NOSYSTEM=1", "WGETRC=/dev/null")
		if s.opts.Egress {
			own = append(own, "RES_OPTIONS=use-vc") // DNS over TCP
		}
	}
	for _, kv := range own {
		if k, _, _ := strings.Cut(kv, "="); !has(extra, k) {
			env = append(env, kv)
		}
	}
	for k, v := range extra {
		env = append(env, k+"="+v)
	}
	return env
}

func has(m map[string]string, k string) bool { _, ok := m[k]; return ok }

// workspace is where a program in bwrap mode starts, by one of its paths at least.
const workspace = "/workspace"

// WorkdirInside returns the path under which a program sees its Cmd.Workdir: in
// bwrap mode /workspace, or /private where it starts in a Cmd.Cwd, which may be
// nil; else workdir itself.
func (s *Sandbox) WorkdirInside(workdir string, cwd *Dir) string {
	switch {
	case s.mode != Bwrap:
		return workdir
	case cwd != nil:
		return "/private"
	}
	return workspace
}

// Mode returns the mode in force.
func (s *Sandbox) Mode() Mode { return s.mode }
