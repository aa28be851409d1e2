package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/providers/jupyter"
)

// registerAdopt is for the commands that run programs of people or models.
func (f *jupyterFlags) registerAdopt(fs *pflag.FlagSet) {
	fs.StringVar(&f.adopt, "adopt", "", "run in an existing kernel, named by its `ID|PATH`: its id, an id prefix or its notebook's path; its variables are kept and it is left running")
}

// adoptedNote describes the contexts of an adopted kernel to a model.
const adoptedNote = "Code contexts are a kernel that other people may be working in: its variables are there already, and stay when a context is deleted. It cannot be restarted."

// adopted returns ci, of whose languages that of the kernel is left, with the
// kernel in the place of each context and, where every program is to run in it, of
// those of RunCode too.
func adopted(ctx context.Context, ci *jupyter.Stateful, which string, every bool) (codeinterp.CodeInterpreter, error) {
	id, err := ci.Adopt(ctx, which)
	if errors.Is(err, codeinterp.ErrContext) {
		return nil, fmt.Errorf("%w; %s", err, choice(ctx, ci))
	}
	if err != nil {
		return nil, err
	}
	language, err := languageOfContext(ctx, ci, id)
	if err != nil {
		return nil, err
	}
	kernel := codeinterp.Wrap(ci, func(next codeinterp.Handler) codeinterp.Handler {
		return func(ctx context.Context, c codeinterp.Call) (r codeinterp.Reply, err error) {
			switch {
			case c.Op == codeinterp.OpCreate:
				if err = leavesAlone(c.NewContext); err == nil {
					r.Context, err = ci.Adopt(ctx, which)
				}
				return r, err
			case c.Op == codeinterp.OpRun && every:
				r.Result, err = ci.RunInContext(ctx, id, c.Code, c.Run)
				return r, err
			}
			r, err = next(ctx, c)
			if info, ok := r.Value.(codeinterp.Info); ok {
				r.Value = noted(info)
			}
			return r, err
		}
	})
	return codeinterp.Narrow(kernel, &codeinterp.NarrowOptions{Languages: []string{language}, Contexts: true, Manager: true})
}

// maxChoice is how many kernels a message names.
const maxChoice = 20

// choice says which kernels can be adopted.
func choice(ctx context.Context, ci *jupyter.Stateful) string {
	list, err := ci.Kernels(ctx)
	if err != nil {
		return "it does not list them"
	}
	var lines []string
	for _, k := range list[:min(len(list), maxChoice)] {
		line := k.ID + " (" + k.Spec + ", " + k.State
		if k.Path != "" {
			line += ", " + strconv.Quote(k.Path)
		}
		lines = append(lines, line+")")
	}
	switch {
	case len(list) == 0:
		return "it has no kernels"
	case len(list) > maxChoice:
		lines = append(lines, fmt.Sprintf("%d more", len(list)-maxChoice))
	}
	return "it has " + strings.Join(lines, ", ")
}

func languageOfContext(ctx context.Context, ci *jupyter.Stateful, id codeinterp.ContextID) (string, error) {
	list, err := ci.ListContexts(ctx)
	for _, c := range list {
		if c.ID == id {
			return c.Language, nil
		}
	}
	return "", errors.Join(err, codeinterp.ErrContext)
}

// leavesAlone refuses what would change a kernel that others work in.
func leavesAlone(o *codeinterp.ContextOptions) error {
	if o == nil || len(o.Env) == 0 && o.Files == nil && o.Cwd == "" {
		return nil
	}
	return fmt.Errorf("%w: the kernel of --adopt is left as it is: no environment, files or directory can be set in it", codeinterp.ErrInvalid)
}

// noted returns a copy of info that says what contexts are.
func noted(info codeinterp.Info) codeinterp.Info {
	info.Languages = slices.Clone(info.Languages)
	for i := range info.Languages {
		l := &info.Languages[i]
		if l.Notes != "" {
			l.Notes += " "
		}
		l.Notes += adoptedNote
	}
	return info
}
