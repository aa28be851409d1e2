package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/pflag"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/providers/jupyter"
)

// patience is how long a provider opens without a message.
const patience = 3 * time.Second

// jupyterFlags choose a Jupyter server and its kernels.
type jupyterFlags struct {
	url             string
	token, password string
	kernels         []string

	// progress, if set, prints a line about what takes long.
	progress func(format string, args ...any)
}

func (f *jupyterFlags) register(fs *pflag.FlagSet, getenv func(string) string) {
	group(fs, "Jupyter", "", func() {
		fs.StringVar(&f.url, "url", "", "`address` of a Jupyter server (environment: JUPYTER_URL)")
		fs.StringVar(&f.token, "token", "", "`token` of the Jupyter server (environment: JUPYTER_TOKEN, or JUPYTER_PASSWORD)")
	})
	group(fs, "Jupyter", "jupyter", func() {
		fs.Func("kernel", "the `kernelspec` to use, or LANGUAGE=KERNELSPEC; repeatable", each(&f.kernels))
	})
	f.url, f.token, f.password = getenv("JUPYTER_URL"), getenv("JUPYTER_TOKEN"), getenv("JUPYTER_PASSWORD")
}

// options returns the provider's options. A kernelspec without a language is for the
// given one.
func (f *jupyterFlags) options(language string) (*jupyter.Options, error) {
	switch {
	case f.url == "":
		return nil, fmt.Errorf("%w: the jupyter provider needs --url, such as http://localhost:8888", codeinterp.ErrInvalid)
	case !strings.Contains(f.url, "://"):
		return nil, fmt.Errorf("%w: --url %s has no http:// or https:// in front", codeinterp.ErrInvalid, hostOf(f.url))
	}
	o := &jupyter.Options{URL: f.url, Auth: jupyter.Auth{Token: f.token}, Kernels: map[string]string{}}
	// A password logs in, which a token makes needless.
	if f.token == "" {
		o.Auth.Password = f.password
	}
	if strings.Contains(f.url, "/user/") {
		o.Auth.Hub = &jupyter.HubOptions{}
	}
	for _, k := range f.kernels {
		name, spec, ok := strings.Cut(k, "=")
		if !ok {
			name, spec = cmp.Or(language, "python"), k
		}
		o.Kernels[name] = spec
	}
	return o, nil
}

// hostOf names a server in a message: of its address the query can hold a token.
func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		address, _, _ = strings.Cut(address, "?")
		return address
	}
	return u.Host
}

func (f *jupyterFlags) openJupyter(ctx context.Context, language string) (codeinterp.CodeInterpreter, error) {
	opts, done, err := f.reach(ctx, language)
	if err != nil {
		return nil, err
	}
	defer done()
	return orNil(jupyter.NewStateful(ctx, opts))
}

// reach returns the provider's options, unless nothing listens where the server has to: the
// provider would wait for it. A server behind a proxy is left to the provider. Until done is
// called, a line is printed if it takes long.
func (f *jupyterFlags) reach(ctx context.Context, language string) (o *jupyter.Options, done func(), err error) {
	if o, err = f.options(language); err != nil {
		return nil, nil, err
	}
	u, err := url.Parse(o.URL)
	if err == nil && u.Hostname() != "" {
		if proxy, err := http.ProxyFromEnvironment(&http.Request{URL: u}); err == nil && proxy == nil {
			conn, err := (&net.Dialer{Timeout: patience}).DialContext(ctx, "tcp", net.JoinHostPort(u.Hostname(), cmp.Or(u.Port(), map[string]string{"https": "443"}[u.Scheme], "80")))
			if errors.Is(err, syscall.ECONNREFUSED) {
				return nil, nil, fmt.Errorf("%w: nothing listens at %s", codeinterp.ErrUnavailable, u.Host)
			} else if err == nil {
				_ = conn.Close()
			}
		}
	}
	return o, after(patience, f.progress, "waiting for the Jupyter server at %s to answer", hostOf(f.url)), nil
}
