package mcptools

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// maxAsked is how many requests of a server's own may wait for their answers.
// Nothing is offered to servers that they could ask for, but a ping.
const maxAsked = 64

// minStuck is how long a server may leave a message unread at least.
const minStuck = time.Minute

var errAsks = fmt.Errorf("the server has sent more than %d requests without reading the answers", maxAsked)

// patient is a transport over pipes on which a server that does not read holds
// one message up, and not one more for each call that is given up. The SDK waits
// for a pipe without an end, and takes any number of requests meanwhile.
type patient struct {
	mcp.Transport
	stuck time.Duration // how long a message may be under way; zero: for ever
	conn  *patientConn
}

// Connect implements mcp.Transport.
func (p *patient) Connect(ctx context.Context) (mcp.Connection, error) {
	c, err := p.Transport.Connect(ctx)
	if err != nil {
		return nil, err
	}
	p.conn = &patientConn{Connection: c, stuck: p.stuck, turn: make(chan struct{}, 1), close: sync.OnceValue(c.Close), closed: make(chan struct{})}
	return p.conn, nil
}

type patientConn struct {
	mcp.Connection
	stuck  time.Duration
	turn   chan struct{} // held by whoever writes
	asked  atomic.Int32
	close  func() error // of Connection, once
	once   sync.Once
	closed chan struct{}

	callers sync.Map // of requests, by id
	listers sync.Map // likewise
}

// Read implements mcp.Connection.
func (c *patientConn) Read(ctx context.Context) (jsonrpc.Message, error) {
	for {
		m, err := c.Connection.Read(ctx)
		if err != nil {
			return m, err
		}
		switch r := m.(type) {
		case *jsonrpc.Response:
			c.fit(r)
		case *jsonrpc.Request:
			if heeded, err := unasked(r); err != nil {
				return nil, err
			} else if !heeded {
				continue
			}
			if r.IsCall() && c.asked.Add(1) > maxAsked {
				return nil, errAsks
			}
		}
		return m, nil
	}
}

// Write implements mcp.Connection.
func (c *patientConn) Write(ctx context.Context, m jsonrpc.Message) error {
	if _, ok := m.(*jsonrpc.Response); ok {
		defer c.asked.Add(-1)
	}
	if r, ok := m.(*jsonrpc.Request); ok && r.IsCall() {
		c.expect(ctx, r.ID)
	}
	select {
	case c.turn <- struct{}{}:
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-c.closed:
		return io.ErrClosedPipe
	}
	defer func() { <-c.turn }()
	// A part of it may have been sent when ctx ends, so that only the end of the
	// server ends this.
	if c.stuck > 0 {
		defer time.AfterFunc(c.stuck, func() { c.Close() }).Stop()
	}
	return c.Connection.Write(ctx, m)
}

// Close implements mcp.Connection.
func (c *patientConn) Close() error {
	c.once.Do(func() { close(c.closed) })
	return c.close()
}

// answerTime is how long a server over HTTP may take to take an answer.
const answerTime = time.Minute

// answers bounds how many answers to requests of a server over HTTP are under
// way.
type answers struct{ now atomic.Int32 }

// begin returns a ctx for sending an answer, and what ends it.
func (a *answers) begin(ctx context.Context) (context.Context, func(), error) {
	if a.now.Add(1) > maxAsked {
		a.now.Add(-1)
		return nil, nil, errAsks
	}
	ctx, cancel := context.WithTimeoutCause(ctx, answerTime, errors.New("the server does not take an answer"))
	return ctx, sync.OnceFunc(func() {
		a.now.Add(-1)
		cancel()
	}), nil
}
