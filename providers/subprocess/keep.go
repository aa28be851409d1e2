package subprocess

import (
	"sync/atomic"
	"time"
)

// Keep makes contexts outlive the host: each is started below a process of its own, a
// keeper, which has its sandbox, its limits and its output, and ends the context at the end
// of the lease, on DeleteContext, RestartContext's failure and Close. The interpreter then
// has [codeinterp.Attaches]. RunCode and commands still end with the host. It needs Linux,
// and goes with neither Egress nor Install. There are no Functions, no Input and no
// pauses.
//
// A reference names a keeper of the user in XDG_RUNTIME_DIR or the user's cache. While a
// context is attached its lease does not run. A run goes on without the host, within its
// Timeout. `toolcell keep` lists and ends keepers.
type Keep struct {
	// Lease is how long a context goes on while no process has it attached, up to 24
	// hours.
	Lease time.Duration

	// Program is the absolute path of a toolcell command, which is started as the keeper. If it
	// is empty, the program itself is, and has to call [RunKeeper] first in main.
	Program string

	// Spool is how many bytes of the output of a run are kept for whoever attaches the
	// context. Zero means 8 MiB.
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
