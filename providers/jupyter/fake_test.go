package jupyter_test

import (
	"crypto/tls"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/fakejupyter"
	"github.com/toolcell/toolcell/providers/jupyter"
)

// A rig is a fake server with a client, inside a bubble of fake time.
type rig struct {
	t  *testing.T
	s  *fakejupyter.Server
	ci *jupyter.Stateful
	id codeinterp.ContextID
}

// inFake runs f in a bubble, with a fake that setup prepared, a client, and a
// context.
func inFake(t *testing.T, opts jupyter.Options, setup func(*fakejupyter.Server), f func(*rig)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := fakejupyter.New()
		defer s.Close()
		if setup != nil {
			setup(s)
		}
		ci, err := jupyter.NewStateful(t.Context(), fakeOptions(s, opts))
		if err != nil {
			t.Fatal(err)
		}
		r := &rig{t: t, s: s, ci: ci}
		defer func() {
			if err := ci.Close(); err != nil {
				t.Errorf("Close: %v", err)
			}
			if left := s.Kernels(); len(left) > 0 {
				t.Errorf("%d kernels left", len(left))
			}
		}()
		if r.id, err = ci.CreateContext(t.Context(), "python", nil); err != nil {
			t.Fatal(err)
		}
		f(r)
	})
}

func fakeOptions(s *fakejupyter.Server, opts jupyter.Options) *jupyter.Options {
	if opts.URL == "" {
		opts.URL = "http://fake/"
	}
	if opts.HTTPClient == nil {
		opts.HTTPClient = &http.Client{Transport: &http.Transport{}}
	}
	opts.HTTPClient.Transport.(*http.Transport).DialContext = s.DialContext
	return &opts
}

func (r *rig) run(code string, opts *codeinterp.RunOptions) (codeinterp.Result, error) {
	return r.ci.RunInContext(r.t.Context(), r.id, code, opts)
}

// ok runs code and wants it to end normally.
func (r *rig) ok(code string) codeinterp.Result {
	r.t.Helper()
	res, err := r.run(code, nil)
	if err != nil || !res.OK() {
		r.t.Fatalf("%q: %+v, %v", code, res, err)
	}
	return res
}

func (r *rig) want(res codeinterp.Result, status codeinterp.Status, code int, stdout string) {
	r.t.Helper()
	if res.Status != status || res.ExitCode != code || res.Stdout() != stdout {
		r.t.Errorf("status %q, exit %d, stdout %q; want %q, %d, %q", res.Status, res.ExitCode, res.Stdout(), status, code, stdout)
	}
}

// plays are programs by their code; what is not there ends normally.
type plays map[string]func(k *fakejupyter.Kernel, req *fakejupyter.Message)

func (p plays) on(s *fakejupyter.Server) {
	s.Execute = func(k *fakejupyter.Kernel, req *fakejupyter.Message) {
		if play := p[req.Code()]; play != nil {
			play(k, req)
			return
		}
		k.Answer(req, "execute_reply", fakejupyter.OK(1))
	}
}

// Short forms for plays.
func busy(k *fakejupyter.Kernel, req *fakejupyter.Message) {
	k.IOPub(req, "status", fakejupyter.Status("busy"))
}

func idle(k *fakejupyter.Kernel, req *fakejupyter.Message) {
	k.IOPub(req, "status", fakejupyter.Status("idle"))
}

func reply(k *fakejupyter.Kernel, req *fakejupyter.Message) {
	k.Reply(req, "execute_reply", fakejupyter.OK(1))
}

func say(k *fakejupyter.Kernel, req *fakejupyter.Message, text string) {
	k.IOPub(req, "stream", fakejupyter.Stream("stdout", text))
}

// trusting returns a client with a TLS configuration.
func trusting(c *tls.Config) *http.Client {
	return &http.Client{Transport: &http.Transport{TLSClientConfig: c}}
}

// A heldRequest is one that a play does not answer at once.
type heldRequest struct {
	mu  sync.Mutex
	k   *fakejupyter.Kernel
	req *fakejupyter.Message
}

func (h *heldRequest) set(k *fakejupyter.Kernel, req *fakejupyter.Message) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.k, h.req = k, req
}

// ends is the play of a run that ends at once.
func (h *heldRequest) ends(k *fakejupyter.Kernel, req *fakejupyter.Message) {
	h.set(k, req)
	k.Answer(req, "execute_reply", fakejupyter.OK(1))
}

func (h *heldRequest) get() (*fakejupyter.Kernel, *fakejupyter.Message) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.k, h.req
}

// attaches returns the group of a client.
func attaches(ci *jupyter.Stateful) codeinterp.ContextAttacher {
	a, _ := codeinterp.Attaches(ci)
	return a
}
