package jupyter

import (
	"path"

	"github.com/toolcell/toolcell/codeinterp"
)

// Describe implements driver.Runtime. What stands between the code and the
// server's host is the operator's affair and not known here; nothing stands
// between the code and whatever that host reaches, and kernels outlive a
// client that dies.
func (rt *runtime) Describe() codeinterp.Info {
	info := codeinterp.Info{
		Provider: provider,
		Isolation: codeinterp.Isolation{
			Backend:   "server",
			HostDeath: "none",
			Reasons:   []string{"code runs on the Jupyter server's host, with what its operator allows"},
		},
	}
	if dir := rt.opts.Dir; dir != "" {
		info.Isolation.Reasons = append(info.Isolation.Reasons, "all programs share a directory, and can disturb one another there")
		if path.IsAbs(dir) {
			info.Workdir = path.Clean(dir)
		}
	}
	for _, name := range rt.languages {
		info.Languages = append(info.Languages, codeinterp.LanguageInfo{
			Name: name, Runtime: rt.kinds[name].DisplayName, Contexts: true, Completion: rt.kinds[name].Completes(),
			Functions: rt.kinds[name].CanCall(), Files: rt.kinds[name].HasFiles()})
	}
	return info
}
