package sandbox

import "github.com/toolcell/toolcell/codeinterp"

// probeNone always succeeds: there is nothing to have.
func (s *Sandbox) probeNone() error { return nil }

// describe reports what the mode puts in force.
func (s *Sandbox) describe() codeinterp.Isolation {
	r := codeinterp.Isolation{
		Backend: s.mode.String(), Filesystem: codeinterp.ReachOpen, Network: codeinterp.ReachOpen,
		Processes: codeinterp.ReachOpen, Signals: codeinterp.ReachOpen,
		Memory: "rlimit", CPU: "rlimit", PIDs: "none", Disk: "none", HostDeath: "child",
	}
	return r
}
