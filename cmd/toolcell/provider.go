package main

import (
	"context"
	"flag"
	"fmt"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/providers/inmemory"
	"github.com/toolcell/toolcell/providers/inmemory/engine"
	"github.com/toolcell/toolcell/providers/inmemory/quickjs"
	"github.com/toolcell/toolcell/providers/inmemory/typescript"
	"github.com/toolcell/toolcell/providers/jupyter"
	"github.com/toolcell/toolcell/providers/subprocess"
)

// providerFlags choose a provider. They are the same for every command.
type providerFlags struct {
	provider        string
	url             string
	token, password string
	network         bool
	unsandboxed     bool
}

const providerNames = "inmemory, subprocess or jupyter"

func (f *providerFlags) register(fs *flag.FlagSet, getenv func(string) string) {
	fs.StringVar(&f.provider, "provider", "", "what runs the code: "+providerNames+" (default jupyter where --url is given, else inmemory)")
	fs.StringVar(&f.url, "url", "", "`address` of the Jupyter server (environment: JUPYTER_URL)")
	fs.StringVar(&f.token, "token", "", "`token` of the Jupyter server (environment: JUPYTER_TOKEN, or JUPYTER_PASSWORD)")
	fs.BoolVar(&f.network, "network", false, "let programs of the subprocess provider use the network")
	fs.BoolVar(&f.unsandboxed, "allow-unsandboxed", false, "let the subprocess provider run without isolation where none is to be had")
	f.url, f.token, f.password = getenv("JUPYTER_URL"), getenv("JUPYTER_TOKEN"), getenv("JUPYTER_PASSWORD")
}

// choose fills in the provider where no flag names one.
func (f *providerFlags) choose(fs *flag.FlagSet) {
	if f.provider == "" {
		f.provider = "inmemory"
		if isSet(fs, "url") {
			f.provider = "jupyter"
		}
	}
}

// open starts the provider that the flags describe.
func (f *providerFlags) open(ctx context.Context, stateful bool) (codeinterp.CodeInterpreter, error) {
	switch f.provider {
	case "inmemory":
		return openInmemory(stateful)
	case "subprocess":
		return f.openSubprocess(stateful)
	case "jupyter":
		return f.openJupyter(ctx, stateful)
	}
	return nil, fmt.Errorf("%w: unknown provider %q; use %s", codeinterp.ErrInvalid, f.provider, providerNames)
}

func openInmemory(stateful bool) (codeinterp.CodeInterpreter, error) {
	js := quickjs.New(nil)
	opts := &inmemory.Options{Engines: []engine.Engine{js, typescript.New(js)}}
	if stateful {
		return orNil(inmemory.NewStateful(opts))
	}
	return orNil(inmemory.New(opts))
}

func (f *providerFlags) openSubprocess(stateful bool) (codeinterp.CodeInterpreter, error) {
	opts := &subprocess.Options{Network: f.network, AllowNone: f.unsandboxed}
	if stateful {
		return orNil(subprocess.NewStateful(opts))
	}
	return orNil(subprocess.New(opts))
}

func (f *providerFlags) openJupyter(ctx context.Context, stateful bool) (codeinterp.CodeInterpreter, error) {
	opts := &jupyter.Options{URL: f.url, Token: f.token}
	if f.token == "" {
		opts.Password = f.password
	}
	if f.url == "" {
		return nil, fmt.Errorf("%w: the jupyter provider needs --url, such as http://localhost:8888", codeinterp.ErrInvalid)
	}
	if stateful {
		return orNil(jupyter.NewStateful(ctx, opts))
	}
	return orNil(jupyter.New(ctx, opts))
}

// orNil keeps a nil pointer from becoming an interface that is not nil.
func orNil[T codeinterp.CodeInterpreter](ci T, err error) (codeinterp.CodeInterpreter, error) {
	if err != nil {
		return nil, err
	}
	return ci, nil
}
