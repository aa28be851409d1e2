package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/providers/inmemory"
	"github.com/toolcell/toolcell/providers/inmemory/engine"
	"github.com/toolcell/toolcell/providers/inmemory/quickjs"
	"github.com/toolcell/toolcell/providers/inmemory/typescript"
	"github.com/toolcell/toolcell/providers/jupyter"
	"github.com/toolcell/toolcell/providers/subprocess"
)

// patience is how long a provider may take to open before that is told.
const patience = 3 * time.Second

// providerFlags choose a provider. They are the same for every command.
type providerFlags struct {
	provider        string
	url             string
	token, password string
	network         bool
	isolation       isolationFlag
	read, write     list
	unsandboxed     bool

	// waiting, if set, is called where opening takes long.
	waiting func()
	// spawning, if set, is told of a JupyterHub that starts a user's server.
	spawning func(percent int, message string)

	// languages narrows the subprocess provider down to what is needed.
	languages []subprocess.Language
}

const providerNames = "inmemory, subprocess or jupyter"

func (f *providerFlags) register(fs *flag.FlagSet, getenv func(string) string) {
	fs.StringVar(&f.provider, "provider", "", "what runs the code: "+providerNames+" (default jupyter where --url is given, else inmemory)")
	fs.StringVar(&f.url, "url", "", "`address` of the Jupyter server (environment: JUPYTER_URL)")
	fs.StringVar(&f.token, "token", "", "`token` of the Jupyter server (environment: JUPYTER_TOKEN, or JUPYTER_PASSWORD)")
	fs.BoolVar(&f.network, "network", false, "subprocess: let programs use the network")
	fs.Var(&f.read, "read", "subprocess: a `path` that programs may read, besides the system's own; several times for several")
	fs.Var(&f.write, "write", "subprocess: a `path` that programs may read and change; several times for several")
	fs.Var(&f.isolation, "isolation", "subprocess: the `mode` to insist on, bwrap or landlock (default the strongest that works)")
	fs.BoolVar(&f.unsandboxed, "allow-unsandboxed", false, "subprocess: run without isolation where none is to be had")
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
	opts := &subprocess.Options{Require: f.isolation.Mode, AllowNone: f.unsandboxed, Network: f.network, Languages: f.languages}
	var err error
	if opts.ReadOnly, err = absolute(f.read); err != nil {
		return nil, err
	}
	if opts.Writable, err = absolute(f.write); err != nil {
		return nil, err
	}
	if stateful {
		return orNil(subprocess.NewStateful(opts))
	}
	return orNil(subprocess.New(opts))
}

// absolute makes paths absolute, and refuses those that are not there: a
// mistyped one would only be noticed inside of the program.
func absolute(paths []string) ([]string, error) {
	var out []string
	for _, p := range paths {
		abs, err := filepath.Abs(p)
		if err == nil {
			_, err = os.Stat(abs)
		}
		if err != nil {
			return nil, fmt.Errorf("%w: %w", codeinterp.ErrInvalid, err)
		}
		out = append(out, abs)
	}
	return out, nil
}

// An isolationFlag is a flag that holds a mode of the subprocess provider.
type isolationFlag struct{ subprocess.Mode }

func (f *isolationFlag) String() string { return "" }

func (f *isolationFlag) Set(s string) error {
	for _, m := range []subprocess.Mode{subprocess.Bwrap, subprocess.Landlock, subprocess.None} {
		if m.String() == s {
			f.Mode = m
			return nil
		}
	}
	return errors.New("use bwrap, landlock or none")
}

func (f *providerFlags) openJupyter(ctx context.Context, stateful bool) (codeinterp.CodeInterpreter, error) {
	opts := &jupyter.Options{URL: f.url, Token: f.token}
	if f.token == "" {
		opts.Password = f.password
	}
	if f.url == "" {
		return nil, fmt.Errorf("%w: the jupyter provider needs --url, such as http://localhost:8888", codeinterp.ErrInvalid)
	}
	if strings.Contains(f.url, "/user/") {
		opts.Hub = &jupyter.HubOptions{Progress: f.spawning}
	}
	if f.waiting != nil {
		told := make(chan struct{})
		timer := time.AfterFunc(patience, func() {
			defer close(told)
			f.waiting()
		})
		defer func() {
			if !timer.Stop() {
				<-told
			}
		}()
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
