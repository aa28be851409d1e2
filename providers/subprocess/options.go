package subprocess

import "time"

// A Mode is a way of isolating programs, weakest first. The package
// documentation says what each stops and what it does to programs.
type Mode int

const (
	// Auto takes the strongest mode that works on this machine: Bwrap, then
	// Landlock, then, only with Options.AllowNone, None.
	Auto Mode = iota

	// None isolates nothing: programs can do what the host's user can, or on
	// a root host what theirs can.
	None

	// Landlock has the kernel refuse programs what is not listed: Linux 5.13
	// and later, also in ordinary containers. It costs a start 1 ms.
	Landlock

	// Bwrap gives programs namespaces and a file system of their own, by
	// bubblewrap, which has to be installed and allowed to use user
	// namespaces. It costs a start 10 ms.
	Bwrap
)

// String returns "auto", "none", "landlock" or "bwrap".
func (m Mode) String() string {
	if m < Auto || m > Bwrap {
		return "unknown"
	}
	return [...]string{"auto", "none", "landlock", "bwrap"}[m]
}

// Limits bounds what one run, or one context in its whole life, may use of the
// machine: the process and all that it starts, together. In each field zero
// means the default and -1 no limit. A run that exceeds Memory, CPU, Disk or
// Inodes is killed and ends as StatusLost, with a Cause; at the others the
// kernel refuses what is too much, which most runtimes report as an error of
// the program's.
type Limits struct {
	// Memory is in bytes: what is resident, swapped out and spent on page
	// tables, in shared memory, in the buffers of sockets and pseudo terminals, and in
	// what epolls watch, in all, measured some 20 to 50 times a second; and private data
	// per process, which the kernel refuses. What else the kernel spends for a program
	// does not count. The default is 2 GiB; less than 1 MiB, in which nothing starts, is
	// codeinterp.ErrInvalid.
	Memory int64

	// Processes is how many processes and threads there may be. The kernel
	// refuses more where the program has a user or a cgroup of its own; else
	// the run is killed. The default is 256.
	Processes int

	// CPU is seconds of processor time in all. The default is no limit, since
	// RunOptions.Timeout bounds each run. Where the host may not use the kernel's
	// counter, as in most containers, short children that no process waits for
	// are mostly missing from it; see the package's Limits.
	CPU int64

	// FileSize is bytes of the largest file. The default is 512 MiB.
	FileSize int64

	// Disk and Inodes are the bytes, and the files and directories, in the
	// working directory and in files that are open without a name. The
	// defaults are 1 GiB and 100,000. They are measured, some times a second, so
	// that what is written within some 0.3 seconds can come on top before a run
	// is killed.
	Disk   int64
	Inodes int

	// OpenFiles is descriptors per process. The default is 1024; less than 32, in
	// which bash does not work, is codeinterp.ErrInvalid.
	OpenFiles int
}

// Options configures an interpreter. The zero value is ready to use: the
// languages that are found, the strongest isolation that works, no network, no
// files of the host but the system's.
type Options struct {
	// Languages are the languages to offer; each must be found. Nil means
	// those of [Python], [JavaScript], [TypeScript] and [Bash] that are.
	Languages []Language

	// Require is the isolation to use: construction fails with
	// codeinterp.ErrIsolation where it does not work. Auto takes the
	// strongest that does, None only with AllowNone.
	Require   Mode
	AllowNone bool

	// AllowSignals takes Landlock also on kernels before 6.12 where programs
	// run under the host's own user: they can kill the host there. Describe
	// says so.
	AllowSignals bool

	// Dir, if set, is the directory of the host, by its absolute path, that all
	// programs start in and may change, also those of RunCode and commands: they
	// share its files, and on a root host a user, who is its owner, or where
	// that is root a uid that belongs to it. A context may have a Cwd of its
	// own. Programs see it at its path, in every mode and with every host that
	// reads what they print; it has no other name that is there in all of them. Limits.Disk and Inodes do not count what
	// is in it.
	Dir string

	// Network lets programs use the host's network, services on localhost
	// and a cloud's metadata service included.
	Network bool

	// ReadOnly and Writable list files and directories of the host, with
	// absolute paths, that programs may read, or also change. Those that do not
	// exist are left out.
	ReadOnly, Writable []string

	// Limits bounds each run and each context.
	Limits Limits

	// ProbeCache, if set, is a directory of the user's that keeps which isolation and
	// interpreters work here from one process to the next, so that [New] starts none of
	// them again until the machine, the user or the files change.
	ProbeCache string

	// UID and GID are what programs run as where the host is root; zero
	// means an unused id for each working directory.
	UID, GID int

	// Cgroup is a cgroup v2 directory delegated to the host process. Empty
	// means the parent of the host's own cgroup where that is delegated.
	Cgroup string

	// TempDir is where working directories are made; empty means os.TempDir.
	TempDir string

	// Env is added to the environment of all programs, which has nothing of
	// the host's.
	Env map[string]string

	// Grace is how long an interrupted program of a context has to end
	// before it is killed; after half of it, it is interrupted once more.
	// Zero means two seconds.
	Grace time.Duration

	// MaxContexts is how many contexts there can be at once; CreateContext
	// fails with codeinterp.ErrCapacity beyond it. Zero means 256.
	MaxContexts int

	// Install lets Python programs have packages that are missing. Nil means
	// that they cannot.
	Install *Install

	// Warm keeps processes ready, so that runs and contexts start faster.
	// Nil means none.
	Warm *Warm
}

// Warm configures warm starts. Each run still gets a process of its own, which
// nobody else has used or will use.
type Warm struct {
	// Pool is how many idle processes are kept for each language that is not
	// forked. Zero means two, -1 none.
	Pool int

	// Preload lists Python modules, such as numpy and pandas, to import
	// beforehand, so that programs which import them need not wait. One whose
	// process was not kept ready, or forked, finds none of them imported.
	Preload []string

	// Languages limits warm starts to these; nil means all that have a
	// driver.
	Languages []string
}

const (
	defaultGrace       = 2 * time.Second
	defaultMaxContexts = 256
	defaultPool        = 2
)
