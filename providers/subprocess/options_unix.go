//go:build unix

package subprocess

import (
	"fmt"
	"path/filepath"
	"slices"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/environments"
	"github.com/toolcell/toolcell/internal/sandbox"
)

// minOpenFiles is as many descriptors as bash, its driver, a function of the host's and
// some redirections take.
const minOpenFiles = 32

// complete validates o, copies what it refers to and fills in the defaults.
func (o *Options) complete() error {
	if o.Grace < 0 || o.MaxContexts < 0 {
		return fmt.Errorf("%w: negative Grace or MaxContexts", codeinterp.ErrInvalid)
	}
	if o.Warm != nil && o.Warm.Pool < 0 {
		return fmt.Errorf("%w: negative Warm.Pool", codeinterp.ErrInvalid)
	}
	if o.Grace == 0 {
		o.Grace = defaultGrace
	}
	if o.MaxContexts == 0 {
		o.MaxContexts = defaultMaxContexts
	}
	if o.Limits.OpenFiles > 0 && o.Limits.OpenFiles < minOpenFiles {
		return fmt.Errorf("%w: Limits.OpenFiles is %d; %d is the least in which all languages work", codeinterp.ErrInvalid, o.Limits.OpenFiles, minOpenFiles)
	}
	if o.Dir != "" && !filepath.IsAbs(o.Dir) {
		return fmt.Errorf("%w: Dir %q is not absolute", codeinterp.ErrInvalid, o.Dir)
	}
	checked, err := codeinterp.CheckContext(&codeinterp.ContextOptions{Env: o.Env})
	o.Env = checked.Env
	o.Languages = slices.Clone(o.Languages)
	o.ReadOnly, o.Writable = slices.Clone(o.ReadOnly), slices.Clone(o.Writable)
	if err == nil {
		err = o.openInstall()
	}
	return err
}

// openInstall lets programs read what is installed for them.
func (o *Options) openInstall() (err error) {
	if o.Install, err = o.Install.check(); err != nil || o.Install == nil {
		return err
	}
	if o.Install.Root, err = environments.Root(o.Install.Root); err == nil {
		o.ReadOnly = append(o.ReadOnly, o.Install.Root)
	}
	return err
}

// table returns the languages to look for.
func (o *Options) table() ([]Language, error) {
	list := o.Languages
	if list == nil {
		list = Languages()
	}
	for n, l := range list {
		if err := l.check(); err != nil {
			return nil, err
		}
		if slices.ContainsFunc(list[:n], func(k Language) bool { return k.Name == l.Name }) {
			return nil, fmt.Errorf("%w: language %s is listed twice", codeinterp.ErrInvalid, l.Name)
		}
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("%w: an empty list of Languages", codeinterp.ErrInvalid)
	}
	return list, nil
}

// sandbox returns the options of the sandbox.
func (o *Options) sandbox() *sandbox.Options {
	b := o.Sandbox
	return &sandbox.Options{
		Require: b.Mode, AllowNone: b.AllowNone, AllowSignals: b.AllowSignals, Cgroup: b.Cgroup, TempDir: b.TempDir,
		Network: o.Network, ReadOnly: o.ReadOnly, Writable: o.Writable, Limits: o.Limits, Probes: o.probes(), Forks: o.Forks,
	}
}
