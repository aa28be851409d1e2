package subprocess

import (
	"time"

	"github.com/toolcell/toolcell/internal/sandbox"
)

// A Mode is a way of isolating programs.
type Mode = sandbox.Mode

// The modes, strongest last; Auto takes the strongest that works, and None
// only with Options.AllowNone.
const (
	Auto     = sandbox.Auto
	None     = sandbox.None
	Landlock = sandbox.Landlock
	Bwrap    = sandbox.Bwrap
)

// Limits bounds what one run, or one context, may use of the machine. Zero
// fields mean the default, -1 no limit.
type Limits = sandbox.Limits

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

	// Network lets programs use the host's network, services on localhost
	// and a cloud's metadata service included.
	Network bool

	// ReadOnly and Writable list files and directories of the host, with
	// absolute paths, that programs may read, or also change.
	ReadOnly, Writable []string

	// Limits bounds each run and each context.
	Limits Limits

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

	// Preload lists Python modules to import beforehand, such as numpy and
	// pandas.
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
