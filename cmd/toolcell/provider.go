package main

import (
	"context"
	"flag"
	"fmt"
	"strings"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/providers/inmemory"
	"github.com/toolcell/toolcell/providers/inmemory/engine"
	"github.com/toolcell/toolcell/providers/inmemory/quickjs"
	"github.com/toolcell/toolcell/providers/inmemory/typescript"
)

// providerFlags choose a provider. They are the same for every command.
type providerFlags struct {
	provider string
	jupyterFlags
	subprocessFlags

	// language, if known, is the program's.
	language string
}

const providerNames = "inmemory, subprocess or jupyter"

var providerList = []string{"inmemory", "subprocess", "jupyter"}

func (f *providerFlags) register(fs *flag.FlagSet, getenv func(string) string) {
	fs.StringVar(&f.provider, "provider", "", "what runs the code: "+providerNames+" (default jupyter where --url is given, subprocess where --env-name, --with or --install is, else inmemory)")
	f.jupyterFlags.register(fs, getenv)
	f.subprocessFlags.register(fs, getenv)
}

// choose fills in the provider where no flag names one. Flags that were given
// and are another provider's are an error: what they ask for would not be had.
func (f *providerFlags) choose(fs *flag.FlagSet) error {
	if f.provider == "" {
		f.provider = "inmemory"
		switch {
		case isSet(fs, "url"):
			f.provider = "jupyter"
		case isSet(fs, "env-name"), isSet(fs, "with"), isSet(fs, "install"):
			f.provider = "subprocess"
		}
	}
	var err error
	fs.Visit(func(given *flag.Flag) {
		owner, _, _ := strings.Cut(given.Usage, ": ")
		switch {
		case err != nil, owner != "subprocess" && owner != "jupyter", owner == f.provider:
		case owner == "jupyter":
			err = fmt.Errorf("%s goes with --url, or --provider jupyter", dashed(given))
		default:
			err = fmt.Errorf("%s goes with --provider subprocess", dashed(given))
		}
	})
	return err
}

// open starts the provider that the flags describe.
func (f *providerFlags) open(ctx context.Context, stateful bool) (codeinterp.CodeInterpreter, error) {
	switch f.provider {
	case "inmemory":
		return openInmemory(stateful)
	case "subprocess":
		if err := f.prepareEnvironment(ctx); err != nil {
			return nil, err
		}
		return f.openSubprocess(stateful)
	case "jupyter":
		return f.openJupyter(ctx, f.language, stateful)
	}
	return nil, fmt.Errorf("%w: unknown provider %q%s; use %s", codeinterp.ErrInvalid, f.provider, didYouMean(f.provider, providerList), providerNames)
}

func openInmemory(stateful bool) (codeinterp.CodeInterpreter, error) {
	if stateful {
		return orNil(inmemory.NewStateful(inmemoryOptions()))
	}
	return orNil(inmemory.New(inmemoryOptions()))
}

func inmemoryOptions() *inmemory.Options {
	js := quickjs.New(nil)
	return &inmemory.Options{Engines: []engine.Engine{js, typescript.New(js)}}
}

// orNil keeps a nil pointer from becoming an interface that is not nil.
func orNil[T codeinterp.CodeInterpreter](ci T, err error) (codeinterp.CodeInterpreter, error) {
	if err != nil {
		return nil, err
	}
	return ci, nil
}
