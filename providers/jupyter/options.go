package jupyter

import (
	"cmp"
	"context"
	"crypto/tls"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/providers/jupyter/internal/server"
)

// Defaults of Options.
const (
	DefaultStartTimeout     = 60 * time.Second
	DefaultReconnectTimeout = 30 * time.Second
	DefaultGrace            = 2 * time.Second
	DefaultMaxMessage       = 64 << 20
	DefaultTag              = "toolcell"
)

// Options tells how to reach a server and how to treat its kernels. URL is
// required; everything else has a useful zero value. New copies it.
type Options struct {
	// URL is the server's address with its base path, such as
	// "http://localhost:8888" or "https://hub.example.org/user/ada/". The
	// address that a browser shows works as well: a token in its query is
	// taken, and a trailing /lab, /tree or /api is dropped, as is the path of
	// an open notebook.
	URL string

	// Token is sent in the Authorization header of every request, as
	// "token T", which every server understands, or as "Bearer T" if Bearer
	// is set. TokenInURL sends it as a query parameter instead, for proxies
	// that take the header away; servers and proxies log that.
	Token      string
	Bearer     bool
	TokenInURL bool

	// Password logs in as a browser would, where there is no Token.
	Password string

	// Header is added to every request, sockets included.
	Header http.Header

	// HTTPClient makes the REST calls; its redirect policy is not used. Nil
	// means a client of our own with TLS, Proxy and DialContext.
	HTTPClient *http.Client

	// TLS, Proxy and DialContext are used for sockets, and for REST calls
	// where HTTPClient is nil. Nil means the defaults of net/http; proxies
	// come from the environment. Sockets go through http and socks5 proxies,
	// which have to allow CONNECT to the server's port.
	TLS         *tls.Config
	Proxy       func(*http.Request) (*url.URL, error)
	DialContext func(ctx context.Context, network, addr string) (net.Conn, error)

	// Hub, if set, starts a JupyterHub user's server that is not running.
	Hub *HubOptions

	// Kernels maps language names to kernelspecs, where the server's own
	// naming does not do: {"python": "conda-env-ml"}. The kernelspecs that
	// serve no language by its name alone are LANGUAGE@KERNELSPEC.
	Kernels map[string]string

	// KernelEnv is sent with the request that starts a kernel. Gateways take
	// KERNEL_* names and those that their operator lists; other servers
	// ignore it. Such kernels are not found by Sweep where the server does
	// not list the environment. Use ContextOptions.Env for programs.
	KernelEnv map[string]string

	// Dir is a directory of the kernels' host in which all programs start, in
	// place of a private one for each context and each RunCode; relative to where
	// the server starts its kernels, which is ".". It is there before, and stays.
	// Kernels that cannot be moved refuse any other than ".", as they refuse
	// ContextOptions.Cwd.
	Dir string

	// Tag marks the kernels of this client for Sweep. Empty means DefaultTag.
	Tag string

	// StartTimeout bounds the wait for a server that is still starting, and
	// for a kernel to become ready; gateways can need minutes.
	StartTimeout time.Duration

	// ReconnectTimeout is for how long a run waits for a lost server.
	ReconnectTimeout time.Duration

	// Grace is how long an interrupted program has before its kernel is
	// killed.
	Grace time.Duration

	// ContextIdle deletes contexts that had no run for so long. Zero means
	// never; the server may cull kernels by its own rules.
	ContextIdle time.Duration

	// MaxMessage bounds messages that must be held whole, such as images;
	// larger ones are dropped and told in Result.Truncated. Stream output is
	// decoded as it comes and has no such bound.
	MaxMessage int64

	// Warm keeps so many kernels of a language started and ready, so that
	// CreateContext and RunCode need not wait for one.
	Warm map[string]int

	// Spill takes a Python program's large output around the server's rate
	// limit: what is printed above the limit, and all that is printed and shown
	// behind that, up to 1 GiB per run, is spooled on the kernel's host and
	// fetched after the run, over a channel without limit. OnOutput then sees it
	// late, in the order in which it was made; only what a process that the
	// program forked off says itself goes ahead of it. Of what threads of earlier
	// runs print and show beyond a limit of their own, and behind that, the first MiB
	// per run is fetched with the rest, with the run's own behind it, and that of what
	// came between two runs before the next one begins.
	// What there is no room for is counted in Result.Truncated, of displays and
	// values the bytes of their messages, and what a run that is being stopped
	// cannot fetch within Grace is told there.
	Spill bool

	// Log, if set, records what went well in the end and was not as it should
	// be, such as a kernel that had to be started again.
	Log *slog.Logger

	lease     time.Duration // of commands whose client is silent
	names     int           // in bytes, of a listing
	pages     int           // that a listing comes in
	plainJSON bool          // offer no subprotocol; for tests
	noAckFix  bool          // leave acknowledgements to the system; for benchmarks
	pongFix   bool          // hasten them by pongs; for benchmarks
}

// HubOptions tells how to start a user's server through the Hub API.
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

	// Progress, if set, sees the Hub's progress messages: percent done, and
	// what the Hub says.
	Progress func(percent int, message string)
}

func (o *Options) check() (Options, error) {
	if o == nil {
		return Options{}, fmt.Errorf("%w: Options.URL is required", codeinterp.ErrInvalid)
	}
	c := *o
	c.Header = o.Header.Clone()
	c.Kernels = maps.Clone(o.Kernels)
	c.KernelEnv = maps.Clone(o.KernelEnv)
	c.Warm = maps.Clone(o.Warm)
	c.Log = cmp.Or(c.Log, slog.New(slog.DiscardHandler))
	c.Tag = cmp.Or(c.Tag, DefaultTag)
	c.StartTimeout = cmp.Or(c.StartTimeout, DefaultStartTimeout)
	c.ReconnectTimeout = cmp.Or(c.ReconnectTimeout, DefaultReconnectTimeout)
	c.Grace = cmp.Or(c.Grace, DefaultGrace)
	c.MaxMessage = cmp.Or(c.MaxMessage, DefaultMaxMessage)
	c.names, c.pages = cmp.Or(c.names, maxNames), cmp.Or(c.pages, maxPages)
	c.lease = cmp.Or(c.lease, c.ReconnectTimeout+leaseSlack)
	if o.Hub != nil {
		hub := *o.Hub
		c.Hub = &hub
	}
	switch {
	case c.StartTimeout < 0, c.ReconnectTimeout < 0, c.Grace < 0, c.ContextIdle < 0, c.MaxMessage < 0:
		return c, fmt.Errorf("%w: negative duration or size in Options", codeinterp.ErrInvalid)
	case strings.ContainsAny(c.Tag, "/?#%"):
		return c, fmt.Errorf("%w: Tag %q has a character that does not fit a path", codeinterp.ErrInvalid, c.Tag)
	case strings.ContainsRune(c.Dir, 0):
		return c, fmt.Errorf("%w: Dir has a NUL byte", codeinterp.ErrInvalid)
	case c.Token != "" && c.Password != "":
		return c, fmt.Errorf("%w: Token and Password are both set", codeinterp.ErrInvalid)
	}
	return c, nil
}

// server is the part of the options that says how to reach the server.
func (o *Options) server() server.Config {
	return server.Config{URL: o.URL, Token: o.Token, Bearer: o.Bearer, TokenInURL: o.TokenInURL, Password: o.Password,
		Header: o.Header, HTTPClient: o.HTTPClient, TLS: o.TLS, Proxy: o.Proxy, DialContext: o.DialContext,
		Hub: (*server.Hub)(o.Hub), KernelEnv: o.KernelEnv, Tag: o.Tag, StartTimeout: o.StartTimeout,
		PlainJSON: o.plainJSON, NoAckFix: o.noAckFix, PongFix: o.pongFix}
}
