package codeinterp

import "time"

// Info describes a provider: what runs the code, and what the code can reach.
// It feeds tool descriptions, annotations and reports.
type Info struct {
	// Provider is the provider's name, such as "subprocess".
	Provider string

	// Languages describes the runtime behind each language, in the order of
	// Languages().
	Languages []LanguageInfo

	// Isolation says what stands between the code and the host.
	Isolation Isolation

	// ContextIdle is after how long without a run a context is removed; zero
	// means never.
	ContextIdle time.Duration

	// Workdir is the directory that programs start in, as they see it; empty
	// if unknown.
	Workdir string
}

// LanguageInfo describes the runtime behind a language.
type LanguageInfo struct {
	Name    string // as in Languages()
	Runtime string // such as "CPython 3.11.7"
	// Notes is one or two sentences for a model: which libraries there are,
	// what is missing.
	Notes string
}

// A Reach says how far code gets at something of the host's. The zero value is
// not known, which callers take for ReachOpen.
type Reach string

// The reaches.
const (
	ReachUnknown Reach = ""
	ReachOpen    Reach = "open"    // all that the host process can reach
	ReachLimited Reach = "limited" // only what the options list
	ReachBlocked Reach = "blocked" // nothing
)

// Isolation says what stands between the code and the host, item by item.
// Empty strings mean "not known"; callers assume the worst.
type Isolation struct {
	// Backend is "none", "engine", "landlock", "bwrap" or "server".
	Backend string

	Filesystem Reach // files of the host
	Network    Reach // any address, the host's own included
	Processes  Reach // seeing processes of the host
	Signals    Reach // signalling processes of the host

	// How a total is limited: "engine", "cgroup", "rlimit", "watchdog",
	// "none".
	Memory, CPU, PIDs, Disk string

	// HostDeath says what dies with the host process when that is killed:
	// "all", "child" or "none".
	HostDeath string

	// User is who the code runs as, such as "1000" or "the host's".
	User string

	// Reasons says why stronger backends are not in force, one line each.
	Reasons []string
}

// ContextInfo describes a live context.
type ContextInfo struct {
	ID       ContextID
	Language string
	Cwd      string
	Created  time.Time
	LastUsed time.Time
	Busy     bool // a run is in progress
	Queued   int  // runs that wait behind it
}

// Describe returns ci's Info, or, where ci is no Describer, one that promises
// nothing.
func Describe(ci CodeInterpreter) Info {
	if d, ok := ci.(Describer); ok {
		return d.Describe()
	}
	info := Info{Provider: "unknown", Isolation: Isolation{
		Backend: "none", Filesystem: ReachOpen, Network: ReachOpen, Processes: ReachOpen, Signals: ReachOpen,
		Memory: "none", CPU: "none", PIDs: "none", Disk: "none", HostDeath: "none",
		Reasons: []string{"the provider does not describe itself"},
	}}
	for _, name := range ci.Languages() {
		info.Languages = append(info.Languages, LanguageInfo{Name: name})
	}
	return info
}
