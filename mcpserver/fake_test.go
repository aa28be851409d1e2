package mcpserver_test

import (
	"context"
	"crypto/rand"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
)

// A fake runs programs of one command: "print TEXT", "ticks N" (one each 20
// ms), "block" (until it is ended), "raise", "image MS", "big N", "flood N", "set TEXT" and
// "get" (in a context).
type fake struct {
	mu      sync.Mutex
	live    map[codeinterp.ContextID]*string
	running int
	ended   []codeinterp.Status
	ctxs    []context.Context
}

func newFake() *fake { return &fake{live: map[codeinterp.ContextID]*string{}} }

func (f *fake) Languages() []string { return []string{"python"} }
func (f *fake) Close() error        { return nil }

func (f *fake) Describe() codeinterp.Info {
	return codeinterp.Info{
		Provider:  "fake",
		Languages: []codeinterp.LanguageInfo{{Name: "python", Runtime: "Fake 1", Contexts: true}},
		Isolation: codeinterp.Isolation{Backend: "engine", Filesystem: codeinterp.ReachBlocked, Network: codeinterp.ReachBlocked},
	}
}

func (f *fake) RunCode(ctx context.Context, language, code string, opts *codeinterp.RunOptions) (codeinterp.Result, error) {
	return f.run(ctx, nil, code, opts)
}

func (f *fake) CreateContext(ctx context.Context, language string, opts *codeinterp.ContextOptions) (codeinterp.ContextID, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	id := codeinterp.ContextID(rand.Text())
	f.live[id] = new("")
	return id, nil
}

func (f *fake) RunInContext(ctx context.Context, id codeinterp.ContextID, code string, opts *codeinterp.RunOptions) (codeinterp.Result, error) {
	f.mu.Lock()
	state := f.live[id]
	f.mu.Unlock()
	if state == nil {
		return codeinterp.NotRun(), codeinterp.ErrContext
	}
	return f.run(ctx, state, code, opts)
}

func (f *fake) DeleteContext(ctx context.Context, id codeinterp.ContextID) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.live[id] == nil {
		return codeinterp.ErrContext
	}
	delete(f.live, id)
	return nil
}

func (f *fake) ListContexts(context.Context) ([]codeinterp.ContextInfo, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	var list []codeinterp.ContextInfo
	for id := range f.live {
		list = append(list, codeinterp.ContextInfo{ID: id, Language: "python"})
	}
	return list, nil
}

func (f *fake) RestartContext(ctx context.Context, id codeinterp.ContextID) error   { return nil }
func (f *fake) InterruptContext(ctx context.Context, id codeinterp.ContextID) error { return nil }

func (f *fake) run(ctx context.Context, state *string, code string, opts *codeinterp.RunOptions) (codeinterp.Result, error) {
	f.mu.Lock()
	f.running++
	f.ctxs = append(f.ctxs, ctx)
	f.mu.Unlock()
	if opts.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, opts.Timeout, errTimeout)
		defer cancel()
	}
	res, err := f.script(ctx, state, code, opts)
	f.mu.Lock()
	f.running--
	f.ended = append(f.ended, res.Status)
	f.mu.Unlock()
	return res, err
}

var errTimeout = fmt.Errorf("timeout")

func (f *fake) script(ctx context.Context, state *string, code string, opts *codeinterp.RunOptions) (codeinterp.Result, error) {
	res := codeinterp.Result{Status: codeinterp.StatusOK}
	put := func(o codeinterp.Output) {
		res.Outputs = append(res.Outputs, o)
		if opts.OnOutput != nil {
			opts.OnOutput(o)
		}
	}
	text := func(s string) { put(codeinterp.Output{Kind: codeinterp.Stdout, Data: []byte(s)}) }
	verb, arg, _ := strings.Cut(code, " ")
	n, _ := strconv.Atoi(arg)
	switch verb {
	case "print":
		text(arg + "\n")
	case "set":
		*state = arg
	case "get":
		text(*state + "\n")
	case "big":
		text(strings.Repeat("0123456789abcdef\n", n/17))
	case "flood":
		for range n / 1000 {
			text(strings.Repeat("0123456789", 100))
			time.Sleep(time.Millisecond)
		}
	case "image":
		put(codeinterp.Output{Kind: codeinterp.Display, Bundle: []codeinterp.Representation{
			{MIME: "image/png", Data: png}, {MIME: "text/plain", Data: []byte("<Figure>")},
		}})
		time.Sleep(time.Duration(n) * time.Millisecond)
	case "raise":
		text("before\n")
		res.Status, res.ExitCode = codeinterp.StatusError, 1
		res.Error = &codeinterp.ProgramError{Name: "ValueError", Message: arg, Line: 1}
	case "ticks", "block":
		for i := 0; verb == "block" || i < n; i++ {
			select {
			case <-time.After(20 * time.Millisecond):
				if verb == "ticks" {
					text(fmt.Sprintf("tick %d\n", i))
				}
			case <-ctx.Done():
				if context.Cause(ctx) == errTimeout {
					res.Status, res.ExitCode = codeinterp.StatusTimeout, codeinterp.ExitTimeout
					return res, nil
				}
				res.Status, res.ExitCode = codeinterp.StatusCanceled, codeinterp.ExitCanceled
				return res, context.Cause(ctx)
			}
		}
	}
	return res, nil
}

// contexts returns how many contexts are alive.
func (f *fake) contexts() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.live)
}

// runs returns how many programs run, and how those ended that do not.
func (f *fake) runs() (int, []codeinterp.Status) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.running, append([]codeinterp.Status(nil), f.ended...)
}

// eventually waits until ok.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("never: %s", what)
		}
	}
}

// png is a picture of one dot.
var png = []byte("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x06\x00\x00\x00\x1f\x15\xc4\x89" +
	"\x00\x00\x00\rIDATx\x9cc\xf8\xcf\xc0\xf0\x1f\x00\x05\x00\x01\xff\x89\x99=\x1d\x00\x00\x00\x00IEND\xaeB`\x82")
