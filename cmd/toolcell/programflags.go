package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/pflag"

	"github.com/toolcell/toolcell/codeinterp"
)

// programFlags are the flags of commands that show programs' output.
type programFlags struct {
	providerFlags
	timeout time.Duration
	images  string
	env     variables
	dir     string
}

func (f *programFlags) register(fs *pflag.FlagSet, getenv func(string) string) {
	f.env.getenv = getenv
	group(fs, "Program", "", func() {
		fs.DurationVar(&f.timeout, "timeout", 0, "end the program, or each cell of a notebook, after this `duration`, such as 30s")
		fs.Func("env", "set this `NAME=VALUE` in the program's environment, or NAME to its value here; repeatable", f.env.set)
		fs.StringVar(&f.images, "images", "auto", "show images in the terminal by `how`: auto, kitty, iterm2, none, or a directory to save them in")
	})
	group(fs, "Files", "subprocess", func() {
		fs.StringVar(&f.dir, "dir", "", "start in this `directory`, which the program may read; --write lets it change files there")
	})
	f.providerFlags.register(fs, getenv)
}

// errOpenTimeout means that --timeout ran out before the provider was open.
var errOpenTimeout = errors.New("timed out")

// start opens the provider. It returns nil and the exit code if that fails.
func (a *app) start(ctx context.Context, f *programFlags) (codeinterp.CodeInterpreter, int) {
	f.progress = a.progress
	if f.timeout < 0 {
		return nil, a.usageError("negative timeout %v", f.timeout)
	}
	opening := ctx
	if f.timeout > 0 {
		var cancel context.CancelFunc
		opening, cancel = context.WithTimeoutCause(ctx, f.timeout, errOpenTimeout)
		defer cancel()
	}
	ci, err := f.start(opening)
	switch {
	case err == nil:
		return ci, 0
	case ctx.Err() != nil:
		return nil, a.stopped()
	case context.Cause(opening) == errOpenTimeout:
		fmt.Fprintf(a.stderr, "toolcell: timed out after %v, before the program began\n", f.timeout)
		return nil, codeinterp.ExitTimeout
	}
	return nil, a.fail(err)
}

// start opens the provider for programs in one language.
func (f *providerFlags) start(ctx context.Context) (codeinterp.CodeInterpreter, error) {
	if f.settings != nil && len(f.settings.Languages) > 0 && f.language != "" {
		if _, err := codeinterp.ResolveLanguage(f.language, f.settings.Languages); err != nil {
			return nil, fmt.Errorf("%w, by the template", err)
		}
	}
	if own := ownLanguage(f.language); own != nil {
		f.languages = own // no other interpreter is needed
	}
	return f.open(ctx)
}
