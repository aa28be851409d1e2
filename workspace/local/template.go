package local

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/egress"
	"github.com/toolcell/toolcell/environments"
	"github.com/toolcell/toolcell/files"
	"github.com/toolcell/toolcell/git"
	"github.com/toolcell/toolcell/providers/subprocess"
	"github.com/toolcell/toolcell/workspace/template"
)

// templated returns the options with what their template adds. What is set in them wins.
func (opts *Options) templated(dir string) (*Options, error) {
	var o Options
	if opts != nil {
		o = *opts
	}
	if o.Template == "" {
		return &o, nil
	}
	t, err := template.Load(o.Template, os.Getenv)
	if err != nil {
		return nil, fmt.Errorf("local: %w", err)
	}
	o.Template, o.template = "", t
	s := &o.Subprocess
	if s.Languages == nil {
		if s.Languages, err = languages(t, dir); err != nil {
			return nil, err
		}
	}
	env := map[string]string{}
	maps.Copy(env, t.Env)
	maps.Copy(env, s.Env)
	s.Env = env
	s.Limits.Memory = cmp.Or(s.Limits.Memory, int64(t.Limits.Memory))
	s.Limits.Disk = cmp.Or(s.Limits.Disk, int64(t.Limits.Disk))
	s.Limits.Processes = cmp.Or(s.Limits.Processes, t.Limits.Processes)
	if policy, err := t.Network.Policy(); err != nil {
		return nil, fmt.Errorf("local: %w: %w", codeinterp.ErrInvalid, err)
	} else if policy != nil && s.Egress == nil && !s.Network {
		s.Egress = &egress.Options{Policy: *policy}
	}
	w := &o.Workspace
	w.Tools.Timeout = cmp.Or(w.Tools.Timeout, time.Duration(t.Limits.Timeout))
	if w.IdlePause == 0 && t.Idle.Pause > 0 {
		w.IdlePause, w.AutoResume = time.Duration(t.Idle.Pause), true
	}
	if t.Git && o.Git == nil {
		o.Git = &git.Options{}
	}
	return &o, nil
}

// languages returns those of a template, with its interpreters and packages; nil for those
// that are found.
func languages(t *template.Template, dir string) ([]subprocess.Language, error) {
	byName := map[string]subprocess.Language{}
	for _, l := range subprocess.Languages() {
		byName[l.Name] = l
	}
	var set []string
	command := func(path string, names ...string) {
		for _, name := range names {
			if l := byName[name]; path != "" {
				l.Commands = []string{path}
				byName[name], set = l, append(set, name)
			}
		}
	}
	command(t.Node, "javascript", "typescript")
	command(t.Python, "python")
	all, err := packages(t, dir)
	if err != nil {
		return nil, err
	}
	for _, e := range all {
		for _, l := range subprocess.InEnvironment(e) {
			byName[l.Name], set = l, append(set, l.Name)
		}
	}
	named := t.Languages
	if named == nil && set == nil {
		return nil, nil
	} else if named == nil {
		named = append(set, "bash")
	}
	var list []subprocess.Language
	for _, name := range slices.Compact(slices.Clone(named)) {
		l, ok := byName[name]
		if !ok {
			return nil, fmt.Errorf("local: %w: the template's language %q", codeinterp.ErrLanguage, name)
		}
		list = append(list, l)
	}
	return list, nil
}

// packages returns the environments of a template, which it makes if they are missing.
func packages(t *template.Template, dir string) (list []*environments.Environment, err error) {
	root := os.Getenv("TOOLCELL_ENVIRONMENTS") // as for the command
	if t.Environment != "" {
		e, err := environments.OpenNamed(root, t.Environment)
		return []*environments.Environment{e}, err
	}
	policy, err := t.Network.Policy()
	if err != nil {
		return nil, err
	}
	python, node := template.ByLanguage(t.Packages)
	for _, o := range []environments.Options{{Packages: python, Python: t.Python, Root: root}, {Packages: node, Language: "javascript", Root: root}} {
		if len(o.Packages) == 0 {
			continue
		}
		if o.Changeable = []string{dir}; policy != nil && policy.Mode == egress.Hosts {
			o.Egress = &egress.Options{Policy: *policy} // it has to allow the index
		}
		e, err := environments.New(context.Background(), &o)
		if err != nil {
			return nil, err
		}
		list = append(list, e)
	}
	return list, nil
}

// Seed writes the files of a template that are missing.
func Seed(ctx context.Context, f *files.Workdir, t *template.Template) error {
	for _, name := range slices.Sorted(maps.Keys(t.Files)) {
		if _, err := f.Read(ctx, name, files.Range{Bytes: 1}); !errors.Is(err, fs.ErrNotExist) {
			continue
		}
		text, err := t.Read(name)
		if err == nil {
			err = f.Write(ctx, name, text, nil)
		}
		if err != nil {
			return fmt.Errorf("local: the file %q of the template: %w", name, err)
		}
	}
	return nil
}
