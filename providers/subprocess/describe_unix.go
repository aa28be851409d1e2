//go:build unix

package subprocess

import "github.com/toolcell/toolcell/codeinterp"

// Describe tells which interpreters run the programs, and what stands between
// these and the host, as it was probed.
func (i *Interpreter) Describe() codeinterp.Info {
	info := codeinterp.Info{Provider: provider, Isolation: i.sandbox.Report()}
	for _, name := range i.names {
		l := i.languages[name]
		info.Languages = append(info.Languages, codeinterp.LanguageInfo{Name: name, Runtime: l.runtime, Notes: l.Notes})
	}
	if i.sandbox.Mode() == Bwrap {
		info.Workdir = i.sandbox.WorkdirInside("")
	}
	return info
}
