package inmemory

import (
	"fmt"

	"github.com/toolcell/toolcell/codeinterp"
)

// Describe implements codeinterp.Describer.
func (p *Interpreter) Describe() codeinterp.Info {
	info := codeinterp.Info{Provider: provider, Workdir: "/", Isolation: codeinterp.Isolation{
		Backend: "engine", Filesystem: codeinterp.ReachBlocked, Network: codeinterp.ReachBlocked,
		Processes: codeinterp.ReachBlocked, Signals: codeinterp.ReachBlocked,
		Memory: "engine", CPU: "none", PIDs: "engine", Disk: "engine", HostDeath: "all", User: "the host's",
		Reasons: []string{
			"the engine shares the host's address space: a memory error in it is one in the host; run only model-written code that you would run yourself",
		},
	}}
	for _, name := range p.names {
		info.Languages = append(info.Languages, p.languages[name].info)
	}
	if n := p.Abandoned(); n > 0 {
		info.Isolation.Reasons = append(info.Isolation.Reasons, fmt.Sprintf("%d engines could not be stopped and still run", n))
	}
	return info
}
