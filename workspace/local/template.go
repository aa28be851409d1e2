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
	known := []subprocess.Language{subprocess.Python(), subprocess.JavaScript(), subprocess.TypeScript(), subprocess.Bash()}
	index := func(name string) int {
		return slices.IndexFunc(known, func(l subprocess.Language) bool { return l.Name == name })
	}
	named := t.Languages
	replace := func(commands string, list ...subprocess.Language) {
		for _, l := range list {
			if commands != "" {
				l.Commands = []string{commands}
			}
			known[index(l.Name)] = l
			if t.Languages == nil {
				named = append(named, l.Name)
			}
		}
	}
	if t.Node != "" {
		replace(t.Node, known[1:3]...)
	}
	if t.Python != "" {
		replace(t.Python, known[0])
	}
	all, err := packages(t, dir)
	if err != nil {
		return nil, err
	}
	for _, e := range all {
		replace("", subprocess.InEnvironment(e)...)
	}
	if named == nil {
		return nil, nil
	}
	if t.Languages == nil {
		named = append(named, "bash")
	}
	var list []subprocess.Language
	for _, name := range slices.Compact(slices.Clone(named)) {
		i := index(name)
		if i < 0 {
			return nil, fmt.Errorf("local: %w: the template's language %q", codeinterp.ErrLanguage, name)
		}
		list = append(list, known[i])
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
