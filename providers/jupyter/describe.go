package jupyter

import "github.com/toolcell/toolcell/codeinterp"

// Describe tells the server's kernels. What stands between the code and the
// server's host is the operator's affair and not known here; nothing stands
// between the code and whatever that host reaches, and kernels outlive a
// client that dies.
func (it *Interpreter) Describe() codeinterp.Info {
	info := codeinterp.Info{
		Provider:    provider,
		ContextIdle: it.opts.ContextIdle,
		Isolation: codeinterp.Isolation{
			Backend:   "server",
			HostDeath: "none",
			Reasons:   []string{"code runs on the Jupyter server's host, with what its operator allows"},
		},
	}
	for _, name := range it.languages {
		rt := it.runtimes[name]
		info.Languages = append(info.Languages, codeinterp.LanguageInfo{Name: name, Runtime: rt.DisplayName})
	}
	return info
}
