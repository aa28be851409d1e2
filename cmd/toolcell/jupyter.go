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

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/providers/jupyter"
)

const (
	// patience is how long a provider opens without a message.
	patience = 3 * time.Second

	// sweepIdle is how long a kernel without a client is kept.
	sweepIdle = 10 * time.Minute
)

// jupyterFlags choose a Jupyter server and its kernels.
type jupyterFlags struct {
	url             string
	token, password string
	user            string
	kernels         []string
	headers         []string
	wait            time.Duration // for the server to listen

	// waiting, if set, is called with the server's host if opening takes long.
	waiting func(host string)
	// spawning, if set, receives the progress of a JupyterHub that starts a server.
	spawning func(percent int, message string)
}

func (f *jupyterFlags) register(fs *pflag.FlagSet, getenv func(string) string) {
	group(fs, "Jupyter", "", func() {
		fs.StringVar(&f.url, "url", "", "`address` of a Jupyter server (environment: JUPYTER_URL)")
		fs.StringVar(&f.token, "token", "", "`token` of the Jupyter server (environment: JUPYTER_TOKEN, or JUPYTER_PASSWORD)")
	})
	group(fs, "Jupyter", "jupyter", func() {
		fs.Func("kernel", "the `kernelspec` to use, or LANGUAGE=KERNELSPEC; repeatable", each(&f.kernels))
		fs.Func("header", "add this `NAME:VALUE` to every request; repeatable", each(&f.headers))
		fs.DurationVar(&f.wait, "wait", 2*time.Second, "wait this `duration` for a server that is starting")
	})
	f.url, f.token, f.password = getenv("JUPYTER_URL"), getenv("JUPYTER_TOKEN"), getenv("JUPYTER_PASSWORD")
	f.user = cmp.Or(getenv("USER"), getenv("USERNAME"))
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
	o := &jupyter.Options{URL: f.url, Auth: jupyter.Auth{Token: f.token, Header: http.Header{}}, Tag: f.tag(), Kernels: map[string]string{}}
	// A password logs in, which a token makes needless.
	if f.token == "" {
		o.Auth.Password = f.password
	}
	if strings.Contains(f.url, "/user/") {
		o.Auth.Hub = &jupyter.HubOptions{Progress: f.spawning}
	}
	for _, k := range f.kernels {
		name, spec, ok := strings.Cut(k, "=")
		if !ok {
			name, spec = cmp.Or(language, "python"), k
		}
		o.Kernels[name] = spec
	}
	for _, h := range f.headers {
		name, value, ok := strings.Cut(h, ":")
		if !ok || strings.TrimSpace(name) == "" {
			return nil, fmt.Errorf("%w: --header %q is no NAME:VALUE", codeinterp.ErrInvalid, h)
		}
		o.Auth.Header.Add(strings.TrimSpace(name), strings.TrimSpace(value))
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

// tag marks the kernels of a user's commands, which sweep deletes.
func (f *jupyterFlags) tag() string {
	if f.user == "" || strings.ContainsAny(f.user, "/?#%") {
		return jupyter.DefaultTag
	}
	return jupyter.DefaultTag + "-" + f.user
}

func (f *jupyterFlags) openJupyter(ctx context.Context, language string, stateful bool) (codeinterp.CodeInterpreter, error) {
	opts, err := f.options(language)
	if err != nil {
		return nil, err
	}
	defer f.reportWaiting()()
	if err := f.reach(ctx, opts); err != nil {
		return nil, err
	}
	if stateful {
		return orNil(jupyter.NewStateful(ctx, opts))
	}
	return orNil(jupyter.New(ctx, opts))
}

// reportWaiting calls f.waiting if opening takes long. done ends that.
func (f *jupyterFlags) reportWaiting() (done func()) {
	if f.waiting == nil {
		return func() {}
	}
	reported := make(chan struct{})
	timer := time.AfterFunc(patience, func() {
		defer close(reported)
		f.waiting(hostOf(f.url))
	})
	return func() {
		// A message does not come after the caller has returned.
		if !timer.Stop() {
			<-reported
		}
	}
}

// reach waits until a server listens, up to --wait. A server behind a proxy is left to
// the provider.
func (f *jupyterFlags) reach(ctx context.Context, o *jupyter.Options) error {
	u, err := url.Parse(o.URL)
	if err != nil || u.Hostname() == "" {
		return nil
	}
	if proxy, err := http.ProxyFromEnvironment(&http.Request{URL: u}); err != nil || proxy != nil {
		return nil
	}
	port := cmp.Or(u.Port(), map[string]string{"https": "443"}[u.Scheme], "80")
	ctx, cancel := context.WithTimeout(ctx, f.wait)
	defer cancel()
	for {
		conn, err := new(net.Dialer).DialContext(ctx, "tcp", net.JoinHostPort(u.Hostname(), port))
		if err == nil {
			return conn.Close()
		}
		if !errors.Is(err, syscall.ECONNREFUSED) {
			return nil // the provider reports it
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%w: nothing listens at %s; --wait waits for a server that is starting", codeinterp.ErrUnavailable, u.Host)
		case <-time.After(100 * time.Millisecond):
		}
	}
}

type sweepFlags struct {
	jupyterFlags
	idle time.Duration
}

func (f *sweepFlags) registerAll(fs *pflag.FlagSet, getenv func(string) string) {
	f.register(fs, getenv)
	fs.DurationVar(&f.idle, "idle", sweepIdle, "keep kernels that were active within this `duration`")
}

// sweepBeside deletes in the background the kernels that killed commands left behind. It
// ignores a server that does not list its kernels. done ends it, and waits for its end.
func (f *jupyterFlags) sweepBeside(ctx context.Context) (done func()) {
	opts, err := f.options("")
	if err != nil {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	over := make(chan struct{})
	go func() {
		defer close(over)
		_, _ = jupyter.Sweep(ctx, opts, sweepIdle)
	}()
	return func() { cancel(); <-over }
}

// sweepCommand deletes kernels that killed commands left behind.
func (a *app) sweepCommand() *cobra.Command {
	var f sweepFlags
	return a.command("sweep --url URL [flags]", "Delete Jupyter kernels that a killed command left behind", f.registerAll,
		func(ctx context.Context, _ *pflag.FlagSet, operands []string) int {
			if code := a.noOperands("sweep", operands); code != 0 {
				return code
			}
			return a.sweep(ctx, &f)
		})
}

func (a *app) sweep(ctx context.Context, f *sweepFlags) int {
	opts, err := f.options("")
	if err != nil {
		return a.fail(err)
	}
	n, err := jupyter.Sweep(ctx, opts, f.idle)
	switch {
	case err != nil && errors.Is(err, context.Cause(ctx)):
		return a.stopped()
	case err != nil:
		return a.fail(err)
	}
	switch {
	case n == 0 && f.idle > 0:
		fmt.Fprintf(a.stdout, "no kernel was left behind that has been idle for %v; --idle says for how long\n", f.idle)
	case n == 0:
		fmt.Fprintln(a.stdout, "no kernel was left behind")
	case n == 1:
		fmt.Fprintln(a.stdout, "deleted 1 kernel that was left behind")
	default:
		fmt.Fprintf(a.stdout, "deleted %d kernels that were left behind\n", n)
	}
	return 0
}
