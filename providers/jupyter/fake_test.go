package jupyter_test

import (
	"crypto/tls"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/providers/jupyter"
)

// A rig is a fake server with a client, inside a bubble of fake time.
type rig struct {
	t  *testing.T
	s  *fakeServer
	ci *jupyter.Stateful
	id codeinterp.ContextID
}

// inFake runs f in a bubble, with a fake that setup prepared, a client, and a
// context.
func inFake(t *testing.T, opts jupyter.Options, setup func(*fakeServer), f func(*rig)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := newFake()
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

func fakeOptions(s *fakeServer, opts jupyter.Options) *jupyter.Options {
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
type plays map[string]func(k *fakeKernel, req *fakeMessage)

func (p plays) on(s *fakeServer) {
	s.Execute = func(k *fakeKernel, req *fakeMessage) {
		if play := p[req.Code()]; play != nil {
			play(k, req)
			return
		}
		k.Answer(req, "execute_reply", fakeOK(1))
	}
}

// Short forms for plays.
func busy(k *fakeKernel, req *fakeMessage) {
	k.IOPub(req, "status", fakeStatus("busy"))
}

func idle(k *fakeKernel, req *fakeMessage) {
	k.IOPub(req, "status", fakeStatus("idle"))
}

func reply(k *fakeKernel, req *fakeMessage) {
	k.Reply(req, "execute_reply", fakeOK(1))
}

func say(k *fakeKernel, req *fakeMessage, text string) {
	k.IOPub(req, "stream", fakeStream("stdout", text))
}

// trusting returns a client with a TLS configuration.
func trusting(c *tls.Config) *http.Client {
	return &http.Client{Transport: &http.Transport{TLSClientConfig: c}}
}

// A heldRequest is one that a play does not answer at once.
type heldRequest struct {
	mu  sync.Mutex
	k   *fakeKernel
	req *fakeMessage
}

func (h *heldRequest) set(k *fakeKernel, req *fakeMessage) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.k, h.req = k, req
}

// ends is the play of a run that ends at once.
func (h *heldRequest) ends(k *fakeKernel, req *fakeMessage) {
	h.set(k, req)
	k.Answer(req, "execute_reply", fakeOK(1))
}

func (h *heldRequest) get() (*fakeKernel, *fakeMessage) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.k, h.req
}

// attaches returns the group of a client.
func attaches(ci *jupyter.Stateful) codeinterp.ContextAttacher {
	a, _ := codeinterp.Attaches(ci)
	return a
}
