package main

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/toolcell/toolcell/egress"
	"github.com/toolcell/toolcell/workspace/template"
)

// templateFlags take the settings of a template where no flag says otherwise.
type templateFlags struct {
	template   string
	settings   *template.Template // nil: none
	startFiles string             // a directory with the template's files; empty: none
}

// A templateValue is the value of --template, which finds the flags that it is for.
type templateValue struct{ of *providerFlags }

func (v *templateValue) String() string {
	if v.of == nil { // pflag asks a zero value
		return ""
	}
	return v.of.template
}

func (v *templateValue) Set(s string) error { v.of.template = s; return nil }
func (v *templateValue) Type() string       { return "string" }

// withTemplate calls run once the settings of --template are those of the flags.
func (a *app) withTemplate(fs *pflag.FlagSet, run func() int) int {
	flag := fs.Lookup("template")
	if flag == nil {
		return run()
	}
	done, err := flag.Value.(*templateValue).of.templated(fs)
	defer done()
	if err != nil {
		return a.usageError("%s", plain(err))
	}
	return run()
}

func (f *providerFlags) registerTemplate(fs *pflag.FlagSet) {
	group(fs, "Provider", "", func() {
		fs.Var(&templateValue{f}, "template", "start local processes with the packages, files, limits and network of this template: a `name` of toolcell/templates/NAME.json in the user's configuration directory, or a path")
	})
}

// templated takes the settings of --template as flags that were not given. done is called
// in the end.
func (f *providerFlags) templated(fs *pflag.FlagSet) (done func(), err error) {
	done = func() {}
	if f.template == "" {
		return done, nil
	}
	t, err := template.Load(f.template, f.getenv)
	if err != nil {
		return done, err
	}
	switch {
	case fs.Changed("url") || fs.Changed("provider") && f.provider != "subprocess":
		return done, errors.New("--template goes with --provider subprocess")
	}
	f.settings, f.startEnv = t, t.Env
	given := map[string]bool{}
	fs.Visit(func(flag *pflag.Flag) { given[flag.Name] = true })
	set := func(name string, values ...string) {
		for _, v := range values {
			if fs.Lookup(name) != nil && !given[name] && !slices.Contains([]string{"", "0", "0s", "false"}, v) && err == nil {
				err = fs.Set(name, v)
			}
		}
	}
	set("provider", "subprocess")
	set("with", t.Packages...)
	mode, _ := t.Network.Mode.MarshalText()
	for name, value := range map[string]any{
		"python": t.Python, "node": t.Node, "env-name": t.Environment, "languages": strings.Join(t.Languages, ","), "git": t.Git, "net": strings.TrimPrefix(string(mode), "off"),
		"memory": int64(t.Limits.Memory), "disk": int64(t.Limits.Disk), "processes": t.Limits.Processes,
		"context-idle": time.Duration(t.Idle.Context), "idle-pause": time.Duration(t.Idle.Pause),
	} {
		set(name, fmt.Sprint(value))
	}
	if fs.Name() != "shell" { // a person is no run
		set("timeout", time.Duration(t.Limits.Timeout).String())
	}
	if !given["net"] || f.net.mode == egress.Hosts || f.net.mode == egress.Open { // --net off wins
		set("allow", t.Network.Allow...)
	}
	if err != nil || len(t.Files) == 0 {
		return done, err
	}
	return f.writeFiles(fs)
}

// writeFiles writes the template's files into a directory, from which they are copied to
// where programs start.
func (f *providerFlags) writeFiles(fs *pflag.FlagSet) (done func(), err error) {
	dir, err := os.MkdirTemp("", "toolcell-template-")
	if err != nil {
		return func() {}, err
	}
	done = func() { _ = os.RemoveAll(dir) }
	if err := os.Chmod(dir, 0o755); err != nil { // programs of a root host are another user's
		return done, err
	}
	for _, name := range slices.Sorted(maps.Keys(f.settings.Files)) {
		text, err := f.settings.Read(name)
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err == nil {
			err = os.MkdirAll(filepath.Dir(path), 0o755)
		}
		if err == nil {
			err = os.WriteFile(path, text, 0o644)
		}
		if err != nil {
			return done, fmt.Errorf("the file %q of the template: %w", name, err)
		}
		if top, _, _ := strings.Cut(name, "/"); fs.Lookup("in") != nil {
			err = fs.Set("in", filepath.Join(dir, top))
		}
		if err != nil {
			return done, err
		}
	}
	f.startFiles = dir
	return done, nil
}
