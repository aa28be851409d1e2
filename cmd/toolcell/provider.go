package main

import (
	"cmp"
	"context"
	"fmt"

	"github.com/spf13/pflag"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/egress"
	"github.com/toolcell/toolcell/providers/inmemory"
	"github.com/toolcell/toolcell/providers/inmemory/engine"
	"github.com/toolcell/toolcell/providers/inmemory/fetch"
	"github.com/toolcell/toolcell/providers/inmemory/quickjs"
	"github.com/toolcell/toolcell/providers/inmemory/typescript"
)

// providerFlags choose a provider. They are the same for every command.
type providerFlags struct {
	provider string
	pack     string // of Python, for the embedded provider
	jupyterFlags
	subprocessFlags
	templateFlags

	// language is the program's, if it is known. It is assumed if nothing shows it.
	language string
	assumed  bool
}

const providerNames = "inmemory, subprocess or jupyter"

var providerList = []string{"inmemory", "subprocess", "jupyter"}

func (f *providerFlags) register(fs *pflag.FlagSet, getenv func(string) string) {
	group(fs, "Provider", "", func() {
		fs.StringVar(&f.provider, "provider", "", "`name` of what runs the code: "+providerNames+" (default: chosen by the language and the other flags; environment: TOOLCELL_PROVIDER)")
		fs.StringVar(&f.pack, "pack", defaultPack, "which installed `pack` of Python the inmemory provider runs: small or science")
	})
	f.registerTemplate(fs)
	f.subprocessFlags.register(fs, getenv)
	f.jupyterFlags.register(fs, getenv)
}

// choose chooses the provider if --provider does not name one: a Jupyter server with
// --url, local processes for their flags and for languages such as Python and Bash, and
// otherwise the embedded engine. A flag of another provider is an error.
func (f *providerFlags) choose(fs *pflag.FlagSet) error {
	configured, err := configure(fs, f.getenv)
	if err != nil {
		return err
	}
	if f.provider == "" {
		f.provider = f.guess(fs, cmp.Or(f.getenv("TOOLCELL_PROVIDER"), configured))
	}
	if fs.Changed("pack") && f.provider != "inmemory" {
		return fmt.Errorf("--pack goes with --provider inmemory")
	}
	fs.Visit(func(given *pflag.Flag) {
		owner := annotation(given, ownerOf)
		switch {
		case err != nil, owner == "", owner == f.provider:
		case owner == "jupyter":
			err = fmt.Errorf("--%s goes with --url, or --provider jupyter", given.Name)
		default:
			err = fmt.Errorf("--%s goes with --provider subprocess", given.Name)
		}
	})
	return err
}

// guess returns the provider for the flags, the language and the user's preference.
func (f *providerFlags) guess(fs *pflag.FlagSet, preferred string) string {
	owners := map[string]bool{}
	fs.Visit(func(given *pflag.Flag) { owners[annotation(given, ownerOf)] = true })
	local := f.language != "" && !is(f.language, "javascript", "typescript")
	switch {
	case fs.Changed("url") || owners["jupyter"]:
		return "jupyter"
	case fs.Changed("pack"):
		return "inmemory"
	case owners["subprocess"] || f.net.mode == egress.Host:
		return "subprocess"
	case preferred != "":
		return preferred
	case local:
		return "subprocess"
	}
	return "inmemory"
}

// open starts the provider that the flags describe.
func (f *providerFlags) open(ctx context.Context) (codeinterp.CodeInterpreter, error) {
	switch f.provider {
	case "inmemory":
		o, err := f.inmemoryOptions()
		if err != nil {
			return nil, err
		}
		return orNil(inmemory.NewStateful(o))
	case "subprocess":
		return f.openSubprocess(ctx, f.progress)
	case "jupyter":
		if policy, err := f.net.options(f.getenv); err != nil || policy != nil {
			return nil, cmp.Or(err, fmt.Errorf("%w: what programs of a Jupyter server reach is for its operator to say", codeinterp.ErrInvalid))
		}
		return f.openJupyter(ctx, f.language)
	}
	return nil, fmt.Errorf("%w: unknown provider %q; use %s", codeinterp.ErrInvalid, f.provider, providerNames)
}

func (f *providerFlags) inmemoryOptions() (*inmemory.Options, error) {
	js := quickjs.New(nil)
	engines := []engine.Engine{js, typescript.New(js)}
	py, err := installedPython(f.pack)
	if err != nil {
		return nil, err
	}
	if py != nil {
		engines = append(engines, py)
	}
	if f.net.mode == egress.Host {
		return nil, fmt.Errorf("%w: --net host goes with --provider subprocess", codeinterp.ErrInvalid)
	}
	policy, err := f.net.options(f.getenv)
	if err != nil {
		return nil, err
	}
	network, err := fetch.New(policy)
	return &inmemory.Options{Engines: engines, Network: network}, err
}

// orNil keeps a nil pointer from becoming an interface that is not nil.
func orNil[T codeinterp.CodeInterpreter](ci T, err error) (codeinterp.CodeInterpreter, error) {
	if err != nil {
		return nil, err
	}
	return ci, nil
}
