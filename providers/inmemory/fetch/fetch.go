// Package fetch lets programs of the embedded engines reach hosts, by JavaScript's fetch, and by
// http.client and urllib of Python:
//
//	network, err := fetch.New(&egress.Options{Policy: policy})
//	ci, err := inmemory.NewStateful(&inmemory.Options{Network: network})
//
// It is a package of its own since it brings net/http, which programs without a network
// need not carry.
//
// A request and an answer have at most 16 MiB each. Of all contexts of an interpreter 256
// requests are in progress, of one context as many as the policy's Limits.Connections says;
// others wait within their run's time.
package fetch

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/egress"
	"github.com/toolcell/toolcell/egress/gate"
	"github.com/toolcell/toolcell/providers/inmemory/engine"
)

const (
	// maxFetchBody is how many bytes a request and an answer may have.
	maxFetchBody = 16 << 20

	maxRedirects = 20

	// maxFetches is how many requests of a run may wait.
	maxFetches = 1024

	// maxOpen is how many requests of an interpreter are in progress.
	maxOpen = 256
)

// A network is a gate for the programs of one interpreter.
type network struct {
	gate   *gate.Gate
	policy egress.Policy
	open   chan struct{} // one for each request in progress
}

// New returns an engine.Network for one interpreter, which closes it. Programs reach what
// the policy allows; its error wraps codeinterp.ErrInvalid. Where the policy is off there
// is no network, and New returns nil.
func New(o *egress.Options) (engine.Network, error) {
	if o == nil || o.Policy.Mode == egress.Off {
		return nil, nil
	}
	g, err := gate.New(o)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", codeinterp.ErrInvalid, err)
	}
	return &network{g, o.Policy, make(chan struct{}, maxOpen)}, nil
}

func (n *network) Hosts(max int) []string         { return n.policy.HostNames(max) }
func (n *network) Session() engine.NetworkSession { return session{n.gate.Session(), n.open} }
func (n *network) Close() error                   { return n.gate.Close() }

type session struct {
	*gate.Session
	open chan struct{}
}

// Fetch implements engine.NetworkSession.
func (s session) Fetch(ctx context.Context) func(json.RawMessage, func(json.RawMessage, error)) {
	f := &fetcher{ctx: ctx, session: s, pending: map[int64]context.CancelFunc{}}
	return f.fetch
}

// A fetcher makes the HTTP requests of one run.
type fetcher struct {
	ctx     context.Context // of the run
	session session

	mu      sync.Mutex
	pending map[int64]context.CancelFunc
}

// fetch is an engine.Program's Fetch.
func (f *fetcher) fetch(request json.RawMessage, answer func(json.RawMessage, error)) {
	var q engine.FetchRequest
	if err := json.Unmarshal(request, &q); err != nil {
		answer(nil, fetchError(err))
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if q.Cancel != 0 {
		if cancel := f.pending[q.Cancel]; cancel != nil {
			cancel()
		}
		answer(json.RawMessage("null"), nil)
		return
	}
	if len(f.pending) >= maxFetches || f.pending[q.ID] != nil { // a program of Python can give any number
		answer(nil, fetchError(errors.New("too many requests wait")))
		return
	}
	ctx, cancel := context.WithCancel(f.ctx)
	f.pending[q.ID] = cancel
	go func() {
		defer func() {
			f.mu.Lock()
			delete(f.pending, q.ID)
			f.mu.Unlock()
			cancel()
		}()
		a, err := f.do(ctx, &q)
		if err != nil {
			answer(nil, fetchError(err))
			return
		}
		answer(json.Marshal(a))
	}()
}

func fetchError(err error) error {
	return &codeinterp.FunctionError{Function: "fetch", Message: err.Error()}
}

func (f *fetcher) do(ctx context.Context, q *engine.FetchRequest) (*engine.FetchAnswer, error) {
	select {
	case f.session.open <- struct{}{}:
		defer func() { <-f.session.open }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	var body io.Reader
	if q.Body != nil {
		body = bytes.NewReader(fromLatin(*q.Body))
	}
	r, err := http.NewRequestWithContext(ctx, q.Method, q.URL, body)
	if err != nil {
		return nil, err
	}
	for _, h := range q.Headers {
		r.Header.Add(h[0], h[1])
	}
	if r.Header.Get("User-Agent") == "" {
		r.Header.Set("User-Agent", "node")
	}
	redirected := false
	client := http.Client{Transport: f.session, CheckRedirect: func(_ *http.Request, via []*http.Request) error {
		switch {
		case q.Redirect == "manual":
			return http.ErrUseLastResponse
		case q.Redirect == "error":
			return errors.New("unexpected redirect")
		case len(via) >= maxRedirects:
			return errors.New("redirect count exceeded")
		}
		redirected = true
		return nil
	}}
	resp, err := client.Do(r)
	if outer, ok := errors.AsType[*url.Error](err); ok {
		return nil, outer.Err // without what net/http puts around it
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(io.LimitReader(resp.Body, maxFetchBody+1))
	switch {
	case err != nil:
		return nil, err
	case len(data) > maxFetchBody:
		return nil, fmt.Errorf("the answer has more than %d bytes", maxFetchBody)
	}
	a := &engine.FetchAnswer{URL: resp.Request.URL.String(), Redirected: redirected, Status: resp.StatusCode, Body: toLatin(data)}
	_, a.StatusText, _ = strings.Cut(resp.Status, " ")
	for name, values := range resp.Header {
		for _, v := range values {
			a.Headers = append(a.Headers, [2]string{name, toLatin([]byte(v))})
		}
	}
	return a, nil
}

// toLatin returns bytes as characters, fromLatin the bytes of characters below U+0100.
func toLatin(b []byte) string {
	var s strings.Builder
	s.Grow(len(b))
	for _, c := range b {
		s.WriteRune(rune(c))
	}
	return s.String()
}

func fromLatin(s string) []byte {
	b := make([]byte, 0, len(s))
	for _, c := range s {
		b = append(b, byte(c))
	}
	return b
}
