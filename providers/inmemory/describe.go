package inmemory

import (
	"github.com/toolcell/toolcell/codeinterp"
)

// maxHostNames is how many hosts Describe lists.
const maxHostNames = 100

// Describe implements driver.Runtime.
func (rt *engines) Describe() codeinterp.Info {
	info := codeinterp.Info{Provider: provider, Workdir: "/", PrivateDir: rt.opts.Shared == nil, Isolation: codeinterp.Isolation{
		Backend: "engine", Filesystem: codeinterp.ReachBlocked, Network: codeinterp.ReachBlocked,
		Processes: codeinterp.ReachBlocked, Signals: codeinterp.ReachBlocked,
		Memory: "engine", CPU: "none", PIDs: "engine", Disk: "engine", HostDeath: "all", User: "the host's",
		Reasons: []string{
			"the engine shares the host's address space: a memory error in it is one in the host; run only model-written code that you would run yourself",
		},
	}}
	if rt.gate != nil {
		info.Isolation.Network = codeinterp.ReachLimited
		info.Isolation.Hosts = rt.opts.Egress.Policy.HostNames(maxHostNames)
	}
	for _, name := range rt.names {
		l := rt.languages[name].info
		l.Contexts = true
		info.Languages = append(info.Languages, l)
	}
	return info
}
