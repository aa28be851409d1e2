package workspace

import (
	"fmt"
	"maps"

	"github.com/toolcell/toolcell/codeinterp"
)

// RefVersion is the version of the form of a Ref that this package writes.
const RefVersion = 1

// A Ref is what a program stores in order to open a workspace again: the name,
// and what it had. It holds no secrets and no contexts.
type Ref struct {
	Version      int         `json:"version"`
	Workspace    string      `json:"workspace"`
	Capabilities Declaration `json:"capabilities"`
}

// Ref returns the workspace's Ref.
func (w *Workspace) Ref() Ref {
	return Ref{Version: RefVersion, Workspace: w.name, Capabilities: w.declared}
}

// Open opens the workspace that ref stands for with interpreters that have to
// have all that it had, and nothing else of theirs is offered. What caps
// declares of an interpreter stands in the place of what ref says of it.
func Open(ref Ref, caps Capabilities, opts *Options) (*Workspace, error) {
	if ref.Version != RefVersion {
		return nil, fmt.Errorf("workspace: %w: ref of version %d, not %d", codeinterp.ErrInvalid, ref.Version, RefVersion)
	}
	declared := caps
	// Checked against the ref alone: what caps declares may leave out some of what
	// was there.
	declared.Declared = ref.Capabilities
	if err := declared.check(); err != nil {
		return nil, fmt.Errorf("workspace %q: %w", ref.Workspace, err)
	}
	caps.Declared = caps.Declared.or(ref.Capabilities)
	return New(ref.Workspace, caps, opts)
}

// or returns d, with what d does not declare taken from other.
func (d Declaration) or(other Declaration) Declaration {
	if d.Code == nil {
		d.Code = other.Code
	}
	d.Files = d.Files || other.Files
	d.Shell = d.Shell || other.Shell
	beside := maps.Clone(other.Beside)
	if beside == nil {
		beside = map[string]CodeDeclaration{}
	}
	maps.Copy(beside, d.Beside)
	d.Beside = beside
	return d
}

// provided returns what the workspace's interpreters have.
func (w *Workspace) provided() Declaration {
	d := Declaration{Files: w.files != nil, Shell: w.shell != nil}
	for name, ci := range maps.All(w.raw) {
		has := provided(ci)
		if name == "" {
			d.Code = &has
			continue
		}
		if d.Beside == nil {
			d.Beside = map[string]CodeDeclaration{}
		}
		d.Beside[name] = has
	}
	return d
}
