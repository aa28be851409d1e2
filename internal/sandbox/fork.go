package sandbox

import (
	"os"
)

// A Fork is the isolation of one child of a fork server (see
// Cmd.ForkServer), prepared by the host and applied by the child to itself; or the place of
// a copy of an untrusted process, whose walls and limits it has already. A copy makes itself a
// child of no process of its program's, joins the Layer's Group by its own id, in landlock mode
// once and by leave of the host, and moves to Workdir. The other fields are empty then, there
// is no step 4, and what was copied may have lied about all of it: Adopt takes only what is in
// the group, and Close ends what may be.
//
//  1. The host calls [Sandbox.Fork] and sends Layer to the server, with
//     Layer.Ruleset as SCM_RIGHTS, over a socketpair.
//  2. The server forks. The child applies the Layer in the order of its
//     fields, before it touches anything of the run, and reports its pid.
//  3. The host calls [Fork.Adopt] and only then sends the code.
//  4. When the child has ended, the server waits for it and reports the wait
//     status, which the host hands to [Process.Finish].
//
// Killing works at any moment after step 2, also when the server is dead.
type Fork struct {
	// Layer is what the child applies. Ruleset is closed by Adopt and Close.
	Layer Layer

	of, child *proc
	from      int // the group of what is copied, 0 for a fork server
}

// A Layer is what a forked child applies to itself, in the order of the
// fields. Everything stacks on what the server is under already, and none of
// it can be undone. Each step that fails must end the child.
type Layer struct {
	// Group: setpgid(0, Group), unless it is 0.
	Group int

	// DeathSignal: prctl(PR_SET_PDEATHSIG, DeathSignal), then end if
	// getppid() is not the server: the child dies with the server.
	DeathSignal int

	// Workdir: chdir(Workdir). It belongs to the server's uid by then.
	Workdir string

	// Rlimits: setrlimit(Resource, {Soft, Hard}) for each.
	Rlimits []Rlimit

	// Ruleset: landlock_restrict_self(fd, 0), system call 446 on all
	// architectures, then close(fd). Nil in none mode. PR_SET_NO_NEW_PRIVS
	// is inherited from the server.
	Ruleset *os.File `json:"-"`

	// Seccomp: prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog), where prog
	// is struct sock_fprog {unsigned short len; struct sock_filter *filter;}
	// with len = len(Seccomp)/8. Nil in none mode. It must be the last step,
	// since it freezes the process group.
	Seccomp []byte
}

// An Rlimit is one argument list of setrlimit(2).
type Rlimit struct {
	Resource   int
	Soft, Hard uint64
}
