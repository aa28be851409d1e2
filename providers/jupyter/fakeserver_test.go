package jupyter_test

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"strings"
	"sync"
)

// A fakeServer is a Jupyter server in memory. It listens on pipes, so that it runs inside
// testing/synctest, and its kernels play the messages of a test in any order. Fields are set before the first request.
type fakeServer struct {
	// Token is what requests must carry; empty means none is asked for.
	Token string
	// Base is the path that the API lives under; empty means "/".
	Base string
	// Specs are the kernelspecs: name to language.
	Specs map[string]string
	// TLS, if set, makes the server speak https.
	TLS *tls.Config
	// Unsigned makes kernels sign their messages with the name of whoever asked,
	// as IRkernel does.
	Unsigned bool
	// JSONOnly makes the server ignore the binary subprotocol.
	JSONOnly bool

	// HTTP, if set, sees every request first, sockets included, and reports
	// whether it answered.
	HTTP func(w http.ResponseWriter, r *http.Request) bool
	// Execute plays an execute_request that the client's caller made. Nil
	// plays a program without output.
	Execute func(k *fakeKernel, req *fakeMessage)
	// Hidden plays the client's own, silent, execute_requests. Nil answers
	// ok.
	Hidden func(k *fakeKernel, req *fakeMessage)
	// Info plays a kernel_info_request. Nil answers.
	Info func(k *fakeKernel, req *fakeMessage)
	// Control plays a request of the control channel, beside what the kernel
	// runs.
	Control func(k *fakeKernel, req *fakeMessage)
	// Leave is called for a client that closes its socket, and is still served.
	Leave func(k *fakeKernel)
	// Interrupt and Restart are called for these requests.
	Interrupt, Restart func(k *fakeKernel)

	mu      sync.Mutex
	kernels map[string]*fakeKernel
	started []*fakeKernel
	conns   chan net.Conn
	open    map[net.Conn]bool
	closed  bool
	done    chan struct{}
	wg      sync.WaitGroup
	http    *http.Server
}

// newFake starts a server with one kernelspec, python3. Close ends it.
func newFake() *fakeServer {
	s := &fakeServer{Specs: map[string]string{"python3": "python"},
		kernels: map[string]*fakeKernel{}, conns: make(chan net.Conn), open: map[net.Conn]bool{}, done: make(chan struct{})}
	s.http = &http.Server{Handler: http.HandlerFunc(s.serve), ErrorLog: log.New(io.Discard, "", 0)}
	s.wg.Go(func() { _ = s.http.Serve(listener{s}) })
	return s
}

// Close ends the server, its connections and its kernels, and waits for them.
func (s *fakeServer) Close() {
	s.mu.Lock()
	s.closed = true
	kernels := s.started
	s.mu.Unlock()
	close(s.done)
	_ = s.http.Close()
	for _, k := range kernels {
		k.end()
	}
	s.Cut()
	s.wg.Wait()
}

// DialContext opens a connection to the server, whatever the address.
func (s *fakeServer) DialContext(ctx context.Context, _, _ string) (net.Conn, error) {
	client, server := net.Pipe()
	s.mu.Lock()
	closed := s.closed
	if !closed {
		s.open[client] = true
	}
	s.mu.Unlock()
	if closed {
		return nil, &net.OpError{Op: "dial", Net: "pipe", Err: errors.New("connection refused")}
	}
	var accepted net.Conn = server
	if s.TLS != nil {
		accepted = tls.Server(server, s.TLS)
	}
	select {
	case s.conns <- accepted:
		return client, nil
	case <-s.done:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// Client returns an HTTP client whose connections lead to the server, whatever the
// address.
func (s *fakeServer) Client() *http.Client {
	return &http.Client{Transport: &http.Transport{DialContext: s.DialContext, MaxIdleConnsPerHost: 4}}
}

// Cut breaks every connection, as a network that fails does.
func (s *fakeServer) Cut() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.open {
		c.Close()
		delete(s.open, c)
	}
}

// Kernels returns the kernels that were started and not deleted.
func (s *fakeServer) Kernels() []*fakeKernel {
	s.mu.Lock()
	defer s.mu.Unlock()
	var list []*fakeKernel
	for _, k := range s.started {
		if s.kernels[k.ID] == k {
			list = append(list, k)
		}
	}
	return list
}

// A listener accepts what DialContext opens.
type listener struct{ s *fakeServer }

func (l listener) Accept() (net.Conn, error) {
	select {
	case c := <-l.s.conns:
		return c, nil
	case <-l.s.done:
		return nil, net.ErrClosed
	}
}

func (l listener) Close() error   { return nil }
func (l listener) Addr() net.Addr { return &net.UnixAddr{Name: "fakejupyter", Net: "unix"} }

// serve answers a request, by the HTTP hook or as a Jupyter server does.
func (s *fakeServer) serve(w http.ResponseWriter, r *http.Request) {
	if s.HTTP != nil && s.HTTP(w, r) {
		return
	}
	base := "/" + strings.Trim(s.Base, "/")
	path, ok := strings.CutPrefix(r.URL.Path, strings.TrimSuffix(base, "/")+"/")
	if !ok {
		fakeFail(w, 404, "Not Found")
		return
	}
	if s.Token != "" && r.Header.Get("Authorization") != "token "+s.Token {
		fakeFail(w, 403, "'_xsrf' argument missing from POST")
		return
	}
	parts := strings.Split(strings.TrimSuffix(path, "/"), "/")
	switch {
	case path == "api/kernelspecs":
		s.specs(w)
	case path == "api/kernels" && r.Method == http.MethodPost:
		s.start(w, r)
	case len(parts) >= 3 && parts[1] == "kernels":
		s.kernel(w, r, parts[2:])
	default:
		fakeFail(w, 404, "Not Found")
	}
}

// fakeFail answers with a status and a message, as Jupyter does.
func fakeFail(w http.ResponseWriter, status int, message string) {
	fakeJSON(w, status, map[string]string{"message": message})
}

// fakeJSON answers with a status and a value.
func fakeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v)
}

func (s *fakeServer) specs(w http.ResponseWriter) {
	specs := map[string]any{}
	for name, language := range s.Specs {
		specs[name] = map[string]any{"name": name, "spec": map[string]any{
			"argv": []string{name}, "display_name": name, "language": language}}
	}
	fakeJSON(w, 200, map[string]any{"default": "python3", "kernelspecs": specs})
}

func (s *fakeServer) start(w http.ResponseWriter, r *http.Request) {
	var body struct{ Name string }
	_ = json.NewDecoder(r.Body).Decode(&body)
	k := newKernel(s, body.Name)
	s.mu.Lock()
	s.kernels[k.ID] = k
	s.started = append(s.started, k)
	s.mu.Unlock()
	fakeJSON(w, 201, k.model())
}

// kernel answers what concerns one kernel.
func (s *fakeServer) kernel(w http.ResponseWriter, r *http.Request, parts []string) {
	s.mu.Lock()
	k := s.kernels[parts[0]]
	s.mu.Unlock()
	if k == nil {
		fakeFail(w, 404, "Kernel does not exist: "+parts[0])
		return
	}
	call := func(f func(*fakeKernel)) {
		if f != nil {
			f(k)
		}
	}
	switch {
	case len(parts) == 2 && parts[1] == "channels":
		k.serveSocket(w, r)
	case len(parts) == 2 && parts[1] == "interrupt":
		w.WriteHeader(204)
		call(s.Interrupt)
	case len(parts) == 2 && parts[1] == "restart":
		k.Replace()
		call(s.Restart)
		fakeJSON(w, 200, k.model())
	case r.Method == http.MethodDelete:
		s.Remove(k)
		w.WriteHeader(204)
	default:
		fakeJSON(w, 200, k.model())
	}
}

// Remove makes a kernel unknown, as culling does: without a word to its
// clients.
func (s *fakeServer) Remove(k *fakeKernel) {
	s.mu.Lock()
	delete(s.kernels, k.ID)
	s.mu.Unlock()
	k.end()
}
