package codeinterp

import (
	"slices"
	"time"
)

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

	// Lateness is how long a run may exceed its timeout: the time for an interrupted
	// program to end, and for killing it. Zero means not known.
	Lateness time.Duration

	// StartLimit is how long a program may take to start once it is its turn, without
	// the time in which the runtime is busy with others. Zero means not known.
	StartLimit time.Duration

	// Workdir is the directory that programs start in, as they see it; empty
	// if unknown.
	Workdir string

	// PrivateDir says that each context, and each run outside of one, starts in a
	// directory of its own, which is deleted with it.
	PrivateDir bool

	// Pause says how a [Pauser] stops programs here; empty where there is none.
	Pause string

	// Limits are what calls are held to, by the provider or by a [Limit]
	// around it.
	Limits Limits
}

// Limits are the largest values that are accepted, beyond what holds for all
// providers. In each field zero means that there is none.
type Limits struct {
	Timeout  time.Duration // RunOptions.Timeout, also of runs that set none
	Output   int           // RunOptions.MaxOutput, also of runs that set none
	Code     int           // bytes of a program
	Contexts int           // contexts at once, for each caller where callers are separated
}

// within returns the stricter of both in each field.
func (l Limits) within(m Limits) Limits {
	return Limits{
		Timeout:  stricter(l.Timeout, m.Timeout),
		Output:   stricter(l.Output, m.Output),
		Code:     stricter(l.Code, m.Code),
		Contexts: stricter(l.Contexts, m.Contexts),
	}
}

func stricter[N int | time.Duration](a, b N) N {
	if a <= 0 || b <= 0 {
		// Zero is no limit at all, so that the other one holds.
		return max(a, b, 0)
	}
	return min(a, b)
}

// LanguageInfo describes the runtime behind a language.
type LanguageInfo struct {
	Name    string // as in Languages()
	Runtime string // such as "CPython 3.11.7"
	// Notes is one or two sentences for a model: which libraries there are,
	// what is missing.
	Notes string
	// Roots are the files and directories of the host that programs may read
	// for the sake of the runtime, beside the system's own. They are for the
	// people who run the host, not for a model.
	Roots []string

	// Path is the interpreter's on the host, Prefix where it is installed: of a
	// Python in an environment, the environment. Empty where there is none.
	Path, Prefix string

	// Packages are the main ones of those that are installed, such as "numpy
	// 2.1.0", at most 24; for a model too.
	Packages []string

	// PassedOver are the interpreters that were looked at before Path and not
	// taken, each with the reason in parentheses. They are for people.
	PassedOver []string

	// Aliases are other names that are accepted, beside the usual ones of
	// ResolveLanguage.
	Aliases []string

	// Functions says that programs can call what RunOptions.Functions and
	// ContextOptions.Functions give them.
	Functions bool

	// Input says that RunOptions.Input reaches programs.
	Input bool

	// Completion says that code can be completed in contexts of the language; see
	// [Completions].
	Completion bool

	// Forks says that contexts of the language can be copied; see [Forks].
	Forks bool

	// Files says that files can be given to programs of the language and that what they
	// write is found: RunOptions.Files and Artifacts, ContextOptions.Files, and, where
	// there are contexts, [Files].
	Files bool

	// Contexts says that contexts of the language can be created.
	Contexts bool
}

// A Reach says how much of a resource of the host code can reach. The zero value is not
// known, which callers treat as ReachOpen.
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

	// Hosts lists hosts that programs may reach, where Network is ReachLimited: names,
	// "*.name" or addresses, and a port that is not 80 or 443. It is empty where every
	// public host is allowed.
	Hosts []string

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

// HasFiles reports whether LanguageInfo.Files is set for a language, by its name in
// Languages; for any language if the name is empty.
func (i Info) HasFiles(language string) bool {
	return slices.ContainsFunc(i.Languages, func(l LanguageInfo) bool { return l.Files && (language == "" || l.Name == language) })
}

// Describe returns ci's Info, or, where ci is no Describer, one that promises
// nothing. Its languages have contexts only where ci has them.
func Describe(ci CodeInterpreter) Info {
	d, ok := ci.(Describer)
	if !ok {
		return undescribed(ci)
	}
	info := d.Describe()
	if _, ok := Stateful(ci); !ok { // they may be hidden
		info.Languages = slices.Clone(info.Languages)
		for i := range info.Languages {
			info.Languages[i].Contexts = false
		}
	}
	return info
}

func undescribed(ci CodeInterpreter) Info {
	info := Info{Provider: "unknown", Isolation: Isolation{
		Backend: "none", Filesystem: ReachOpen, Network: ReachOpen, Processes: ReachOpen, Signals: ReachOpen,
		Memory: "none", CPU: "none", PIDs: "none", Disk: "none", HostDeath: "none",
		Reasons: []string{"the provider does not describe itself"},
	}}
	_, stateful := Stateful(ci)
	for _, name := range ci.Languages() {
		info.Languages = append(info.Languages, LanguageInfo{Name: name, Contexts: stateful})
	}
	return info
}
