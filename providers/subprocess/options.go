package subprocess

import (
	"sync/atomic"
	"time"

	"github.com/toolcell/toolcell/egress"
	"github.com/toolcell/toolcell/internal/sandbox"
)

// A Mode is a way of isolating programs, weakest first. String returns "auto", "none",
// "landlock" or "bwrap". The package documentation says what each mode stops.
type Mode = sandbox.Mode

const (
	// Auto is the strongest mode that works on this machine: Bwrap, then
	// Landlock, then None if Sandbox.AllowNone is set.
	Auto = sandbox.Auto

	// None isolates nothing: programs can do what the host's user can, or on a
	// root host what their own user can.
	None = sandbox.None

	// Landlock lets the kernel refuse programs what is not listed. It needs Linux
	// 5.13, works in ordinary containers, and costs a start 1 ms.
	Landlock = sandbox.Landlock

	// Bwrap gives programs namespaces and a file system of their own. It needs
	// bubblewrap and user namespaces, and costs a start 10 ms.
	Bwrap = sandbox.Bwrap
)

// Limits bounds what one run, or one context in its whole life, may use: the process and
// all that it starts. In each field zero means the default and -1 no limit.
//
//	Memory     bytes in all, and of private data per process; 2 GiB
//	Processes  processes and threads; 256
//	CPU        seconds of processor time in all; no limit
//	FileSize   bytes of the largest file; 512 MiB
//	Disk       bytes in the working directory; 1 GiB
//	Inodes     files and directories there; 100,000
//	OpenFiles  descriptors per process, at least 32; 1024
//
// A run that exceeds Memory, CPU, Disk or Inodes is killed and ends as StatusLost with a
// Cause. The kernel refuses what exceeds the others, which most runtimes report as an
// error of the program. Where programs have neither a user nor a cgroup of their own,
// Processes kills too.
type Limits = sandbox.Limits

// A Sandbox says how programs are isolated. The zero value is the strongest mode that
// works.
type Sandbox struct {
	// Mode is the mode to use: New fails with codeinterp.ErrIsolation where it does
	// not work. Auto takes None only if AllowNone is set.
	Mode      Mode
	AllowNone bool

	// AllowSignals accepts Landlock also on kernels before 6.12 where programs run
	// under the host's own user: they can kill the host there. Describe says so.
	AllowSignals bool

	// Cgroup is a cgroup v2 directory that is delegated to the host process. Empty
	// means the parent of the host's own cgroup where that is delegated.
	Cgroup string

	// TempDir is where working directories are made; empty means os.TempDir.
	TempDir string
}

// Options configures an interpreter. The zero value is ready to use: the
// languages that are found, the strongest isolation that works, no network, no
// files of the host but the system's.
type Options struct {
	// Languages are the languages to offer; each must be found. Nil means
	// those of [Python], [JavaScript], [TypeScript] and [Bash] that are.
	Languages []Language

	// Sandbox says how programs are isolated.
	Sandbox Sandbox

	// Dir, if set, is the absolute path of a directory of the host that all
	// programs and commands start in, see at this path, and may change. On a
	// root host they run as its owner, or as one unused user if that is root.
	// Limits.Disk and Inodes do not count what is in it.
	Dir string

	// Network lets programs use the host's network, services on localhost
	// and a cloud's metadata service included.
	Network bool

	// Egress, if set, lets programs reach what its policy allows, by the proxy that the
	// usual environment variables name, and in most cases without it. New fails with
	// codeinterp.ErrIsolation where the mode of isolation cannot keep the policy.
	Egress *egress.Options `json:"-"`

	// ReadOnly and Writable list absolute paths of files and directories of the
	// host that programs may read, or also change. Absent ones are ignored.
	ReadOnly, Writable []string

	// Limits bounds each run and each context.
	Limits Limits

	// ProbeCache, if set, is a directory of the user's that keeps which isolation and
	// interpreters work here from one process to the next, so that [New] starts none of
	// them again until the machine, the user or the files change. What programs of the
	// sandbox have changed in it is ignored. On Linux its file system needs extended
	// attributes, otherwise nothing is kept.
	ProbeCache string

	// Env is the environment of all programs beside a few standard variables;
	// the host's is not inherited.
	Env map[string]string

	// Grace is how long an interrupted program of a context has to end
	// before it is killed; after half of it, it is interrupted once more.
	// Zero means two seconds.
	Grace time.Duration

	// MaxContexts is how many contexts there can be at once; CreateContext
	// fails with codeinterp.ErrCapacity beyond it. Zero means 256.
	MaxContexts int

	// Install lets Python programs install missing packages. Nil means that
	// they cannot.
	Install *Install `json:"-"`

	// Keep makes contexts and commands outlive the host. Nil means that they end with it.
	Keep *Keep

	// Warm keeps processes ready, so that runs and contexts start faster.
	// Nil means none.
	Warm *Warm

	// Forks lets contexts of Python be copied: the interpreter then has [codeinterp.Forks]. It
	// needs Linux and Landlock or None, so that Auto passes Bwrap over; it does not go with
	// Keep, and such contexts do without Warm. The package documentation says what a copy has.
	Forks bool
}

// Warm configures warm starts. Each run still gets a process of its own, which no other
// run has used or will use.
type Warm struct {
	// Pool is how many idle processes are kept for each language. Zero means two.
	Pool int

	// Preload lists Python modules, such as numpy and pandas, that warm processes
	// import beforehand. A run that finds no warm process, and a context after a
	// restart, import them themselves.
	Preload []string

	// Languages limits warm starts to these; nil means all that have a Driver.
	Languages []string
}

// Keep makes contexts outlive the host, and commands in the background, which package shell
// starts: each is started below a process of its own, a keeper, which has its sandbox, its
// limits and its output, and ends it at the end of the lease, on DeleteContext,
// RestartContext's failure and Close. The interpreter then has [codeinterp.Attaches], and
// acts on [codeinterp.KeptCommand]. RunCode, other commands and terminals still end with the
// host. It needs Linux, and goes with neither Egress nor Install. Programs have no Functions
// and no completions.
//
// With Warm, RunCode runs below a keeper too, once one is ready: all hosts of the user with
// the same Options, rights and limits share it, and its processes have imported
// Warm.Preload. Nothing can be paused then.
//
// A reference names a keeper of the user in XDG_RUNTIME_DIR or the user's cache. While a
// context or command is attached its lease does not run. A run goes on without the host, within its
// Timeout. `toolcell keep` lists and ends keepers.
type Keep struct {
	// Lease is how long a context or command goes on while no process has it attached, up to
	// 24 hours.
	Lease time.Duration

	// Program is the absolute path of a toolcell command, which is started as the keeper. If it
	// is empty, the program itself is, and has to call [RunKeeper] first in main.
	Program string

	// Spool is how many bytes of the output of a run are kept for whoever attaches it: the
	// last ones. Zero means 8 MiB.
	Spool int
}

// keeperName is the first argument of keepers, and names them in lists of processes.
const keeperName = "toolcell-keeper"

// canKeep is set by RunKeeper: the program can be started as a keeper.
var canKeep atomic.Bool

// RunKeeper runs a keeper if this process was started as one, and does not return then.
// Programs that set [Options].Keep call it first in main.
func RunKeeper() {
	canKeep.Store(true)
	runKeeper()
}

const (
	defaultGrace       = 2 * time.Second
	defaultMaxContexts = 256
	defaultPool        = 2
)
