// Package fakejupyter is a Jupyter server in memory, for tests of its clients. It listens
// on pipes, so that it runs inside testing/synctest, and its kernels play the messages of a
// test in any order.
//
//	s := fakejupyter.New()
//	defer s.Close()
//	s.Execute = func(k *fakejupyter.Kernel, req *fakejupyter.Message) {
//		k.IOPub(req, "status", fakejupyter.Status("busy"))
//		k.IOPub(req, "stream", fakejupyter.Stream("stdout", "hello\n"))
//		k.Reply(req, "execute_reply", fakejupyter.OK(1))
//		k.IOPub(req, "status", fakejupyter.Status("idle"))
//	}
//
// Clients dial it with [Server.DialContext] or [Server.Client].
package fakejupyter

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"sync"
)

// A Server is the fake. Fields are set before the first request.
type Server struct {
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
	Execute func(k *Kernel, req *Message)
	// Hidden plays the client's own, silent, execute_requests. Nil answers
	// ok.
	Hidden func(k *Kernel, req *Message)
	// Info plays a kernel_info_request. Nil answers.
	Info func(k *Kernel, req *Message)
	// Control plays a request of the control channel, beside what the kernel
	// runs.
	Control func(k *Kernel, req *Message)
	// Leave is called for a client that closes its socket, and is still served.
	Leave func(k *Kernel)
	// Interrupt and Restart are called for these requests.
	Interrupt, Restart func(k *Kernel)

	mu      sync.Mutex
	kernels map[string]*Kernel
	started []*Kernel
	conns   chan net.Conn
	open    map[net.Conn]bool
	closed  bool
	done    chan struct{}
	wg      sync.WaitGroup
	http    *http.Server
}

// New starts a server with one kernelspec, python3. Close ends it.
func New() *Server {
	s := &Server{Specs: map[string]string{"python3": "python"},
		kernels: map[string]*Kernel{}, conns: make(chan net.Conn), open: map[net.Conn]bool{}, done: make(chan struct{})}
	s.http = &http.Server{Handler: http.HandlerFunc(s.serve), ErrorLog: log.New(io.Discard, "", 0)}
	s.wg.Go(func() { _ = s.http.Serve(listener{s}) })
	return s
}

// Close ends the server, its connections and its kernels, and waits for them.
func (s *Server) Close() {
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
func (s *Server) DialContext(ctx context.Context, _, _ string) (net.Conn, error) {
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
func (s *Server) Client() *http.Client {
	return &http.Client{Transport: &http.Transport{DialContext: s.DialContext, MaxIdleConnsPerHost: 4}}
}

// Cut breaks every connection, as a network that fails does.
func (s *Server) Cut() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.open {
		c.Close()
		delete(s.open, c)
	}
}

// Kernels returns the kernels that were started and not deleted.
func (s *Server) Kernels() []*Kernel {
	s.mu.Lock()
	defer s.mu.Unlock()
	var list []*Kernel
	for _, k := range s.started {
		if s.kernels[k.ID] == k {
			list = append(list, k)
		}
	}
	return list
}

// A listener accepts what DialContext opens.
type listener struct{ s *Server }

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
