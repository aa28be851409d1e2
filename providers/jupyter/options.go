package jupyter

import (
	"cmp"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"strings"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/providers/jupyter/internal/server"
)

// A StatusError is a server's refusal of a request. It unwraps to
// [codeinterp.ErrCapacity] if a limit on kernels is reached, to
// [codeinterp.ErrContext] if a kernel is gone, and to [codeinterp.ErrUnavailable]
// otherwise.
type StatusError = server.StatusError

// Options configures a client. URL is required. New copies it.
type Options struct {
	// URL is the server's address with its base path, such as
	// "http://localhost:8888" or "https://hub.example.org/user/ada/". The
	// address that a browser shows works as well: a token in its query is
	// taken, and a trailing /lab, /tree or /api is dropped, as is the path of
	// an open notebook.
	URL string

	// Auth says who we are.
	Auth Auth

	// HTTPClient makes the REST calls; its redirect policy is not used. The TLS
	// configuration, proxy and dialer of an [http.Transport] are used for sockets too.
	// Nil means the defaults of net/http. Proxies have to allow CONNECT to the
	// server's port.
	HTTPClient *http.Client

	// Kernels maps language names to kernelspecs, where the server's own
	// naming does not do: {"python": "conda-env-ml"}. The kernelspecs that
	// serve no language by its name alone are LANGUAGE@KERNELSPEC.
	Kernels map[string]string

	// KernelEnv is sent with the request that starts a kernel. Gateways take
	// KERNEL_* names and those that their operator lists; other servers
	// ignore it. Use ContextOptions.Env for programs.
	KernelEnv map[string]string

	// Dir is a directory of the kernels' host in which all programs start, in
	// place of a private one for each context and each RunCode; relative to where
	// the server starts its kernels, which is ".". It is there before, and stays.
	// Kernels that cannot be moved refuse any other than ".", as they refuse
	// ContextOptions.Cwd.
	Dir string

	// StartTimeout bounds the wait for a server that is still starting, and
	// for a kernel to become ready; gateways can need minutes. Zero means a minute.
	StartTimeout time.Duration

	// Grace is how long an interrupted program has before its kernel is
	// killed. Zero means two seconds.
	Grace time.Duration

	// ContextIdle deletes contexts that had no run for so long. Zero means
	// never; the server may cull kernels by its own rules.
	ContextIdle time.Duration

	// KeepCommands, if set, lets commands in the background, which package shell starts,
	// outlive this process: for so long without a process that asks for them. One that has
	// 512 KiB of unread output waits. Their kernel stays on the server until a process that
	// attaches one of them is closed.
	KeepCommands time.Duration

	// Warm keeps so many kernels of a language started and ready, so that
	// CreateContext and RunCode need not wait for one.
	Warm map[string]int

	// Log, if set, records what went well in the end and was not as it should
	// be, such as a kernel that had to be started again.
	Log *slog.Logger
}

// Auth is how a client authenticates. A token in Options.URL does as well.
type Auth struct {
	// Token is sent as "Authorization: token T", which every server accepts.
	Token string

	// Password logs in as a browser does, if there is no Token.
	Password string

	// Header is added to every request, sockets included, such as an Authorization of
	// another kind for a proxy.
	Header http.Header

	// Hub, if not nil, starts a JupyterHub user's server that is not running.
	Hub *HubOptions
}

// HubOptions says how to start a user's server through the Hub API.
type HubOptions struct {
	// API is the Hub's REST address, such as
	// "https://hub.example.org/hub/api/". Empty means that it stands beside
	// the /user/ of Options.URL.
	API string

	// User and Server name the server to start. Empty means what the path of
	// Options.URL says: /user/USER/ or /user/USER/SERVER/.
	User, Server string

	// UserOptions is passed on to the Hub's spawner, such as {"profile": "small"}.
	UserOptions map[string]any
}

func (o *Options) check() (Options, error) {
	if o == nil {
		return Options{}, fmt.Errorf("%w: Options.URL is required", codeinterp.ErrInvalid)
	}
	c := *o
	c.Auth.Header = o.Auth.Header.Clone()
	c.Kernels = maps.Clone(o.Kernels)
	c.KernelEnv = maps.Clone(o.KernelEnv)
	c.Warm = maps.Clone(o.Warm)
	c.Log = cmp.Or(c.Log, slog.New(slog.DiscardHandler))
	c.StartTimeout = cmp.Or(c.StartTimeout, time.Minute)
	c.Grace = cmp.Or(c.Grace, 2*time.Second)
	if o.Auth.Hub != nil {
		hub := *o.Auth.Hub
		c.Auth.Hub = &hub
	}
	switch {
	case c.StartTimeout < 0, c.Grace < 0, c.ContextIdle < 0, c.KeepCommands < 0:
		return c, fmt.Errorf("%w: negative duration in Options", codeinterp.ErrInvalid)
	case strings.ContainsRune(c.Dir, 0):
		return c, fmt.Errorf("%w: Dir has a NUL byte", codeinterp.ErrInvalid)
	case c.Auth.Token != "" && c.Auth.Password != "":
		return c, fmt.Errorf("%w: Auth.Token and Auth.Password are both set", codeinterp.ErrInvalid)
	}
	return c, nil
}

// server is the part of the options that says how to reach the server.
func (o *Options) server() server.Config {
	a := &o.Auth
	return server.Config{URL: o.URL, Token: a.Token, Password: a.Password,
		Header: a.Header, Hub: (*server.Hub)(a.Hub), HTTPClient: o.HTTPClient,
		KernelEnv: o.KernelEnv, StartTimeout: o.StartTimeout}
}
