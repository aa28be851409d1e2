package main

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/environments"
	"github.com/toolcell/toolcell/workspace/template"
)

// environmentFlags choose the packages of programs.
type environmentFlags struct {
	name    string
	with    []string
	install []string
	getenv  func(string) string
}

func (f *environmentFlags) register(fs *pflag.FlagSet, getenv func(string) string) {
	f.getenv = getenv
	group(fs, "Interpreters and packages", "subprocess", func() {
		fs.Func("with", "install this Python `package`, such as pandas, or npm:lodash for Node.js, if it is missing; repeatable", each(&f.with))
		fs.StringVar(&f.name, "env-name", "", "use the environment of this `name`, made by toolcell env create")
		fs.Func("install", "let programs install this Python `package` by importing it or by %pip install; repeatable; '*' for any", each(&f.install))
	})
}

// prepareEnvironment makes the environments of the flags those that programs run in.
func (f *subprocessFlags) prepareEnvironment(ctx context.Context, progress func(string, ...any)) error {
	if f.name == "" && len(f.with) == 0 {
		return nil
	}
	root := f.getenv("TOOLCELL_ENVIRONMENTS")
	if f.name != "" {
		if len(f.with) > 0 || f.python != "" {
			return fmt.Errorf("%w: --env-name goes without --with and --python", codeinterp.ErrInvalid)
		}
		return f.enter(environments.OpenNamed(root, f.name))
	}
	changeable, err := absolute(f.write)
	if f.shared != "" {
		changeable = append(changeable, f.shared)
	}
	python, node := template.ByLanguage(f.with)
	policy, policyErr := f.net.options(f.getenv)
	err = cmp.Or(err, policyErr)
	if err == nil && len(python) > 0 {
		err = f.enter(newEnvironment(ctx, &environments.Options{Packages: python, Python: f.python, Root: root, Changeable: changeable, Egress: policy}, progress))
	}
	if err == nil && len(node) > 0 {
		err = f.enter(newEnvironment(ctx, &environments.Options{Packages: node, Language: "javascript", Root: root, Changeable: changeable, Egress: policy}, progress))
	}
	return err
}

// findLimit is longer than it takes to find an environment that exists.
const findLimit = time.Second

// newEnvironment makes an environment, and reports a long installation.
func newEnvironment(ctx context.Context, o *environments.Options, progress func(string, ...any)) (*environments.Environment, error) {
	defer after(findLimit, progress, "installing %s ...", strings.Join(o.Packages, ", "))()
	return environments.New(ctx, o)
}

// enter makes an environment the one that programs run in.
func (f *subprocessFlags) enter(e *environments.Environment, err error) error {
	switch {
	case err != nil:
	case e.Python != "":
		f.python = e.Python
	default:
		f.nodeEnvironment = e
	}
	return err
}
