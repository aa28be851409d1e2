package shell

import (
	"context"
	"fmt"
	"io"
	"sync"

	"github.com/toolcell/toolcell/codeinterp"
)

// maxInput is how much input may wait for a command to read it.
const maxInput = 64 << 10

// WriteOptions tunes Write.
type WriteOptions struct {
	Close bool // close the standard input after the data
}

// Write writes to a command's standard input. It returns when the pipe to the command
// has taken all of data; if ctx ends first, n is how much the pipe took. A command
// that has ended or whose input was closed is codeinterp.ErrInvalid. o may be nil.
func (s *Shell) Write(ctx context.Context, id ID, data []byte, o *WriteOptions) (n int, err error) {
	c, err := s.find(ctx, id)
	if err != nil {
		return 0, err
	}
	return c.in.write(ctx, data, o != nil && o.Close)
}

// A pipe holds input on its way to a command.
type pipe struct {
	begun func() // called by each Read

	mu      sync.Mutex
	buf     []byte
	last    bool          // the writer has closed it
	gone    bool          // the reader has
	changed chan struct{} // closed when something of this changes
}

// newPipe returns a pipe that has data in it.
func newPipe(data []byte, begun func()) *pipe {
	return &pipe{begun: begun, buf: data, changed: make(chan struct{})}
}

var errNoInput = fmt.Errorf("shell: %w: the command has ended, or its input was closed", codeinterp.ErrInvalid)

func (p *pipe) write(ctx context.Context, data []byte, last bool) (n int, err error) {
	for {
		p.mu.Lock()
		if p.gone || p.last {
			p.mu.Unlock()
			return n, errNoInput
		}
		took := min(max(maxInput-len(p.buf), 0), len(data)-n)
		// Copied: what is in it at first is the caller's Stdin.
		p.buf = append(p.buf[:len(p.buf):len(p.buf)], data[n:n+took]...)
		n += took
		p.last = last && n == len(data)
		if took > 0 || p.last { // else several writers would wake each other without end
			p.notify()
		}
		changed := p.changed
		p.mu.Unlock()
		if n == len(data) {
			return n, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return n, context.Cause(ctx)
		}
	}
}

// offer writes data if there is room for it at once.
func (p *pipe) offer(data []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.gone && !p.last && len(p.buf)+len(data) <= maxInput {
		p.buf = append(p.buf[:len(p.buf):len(p.buf)], data...)
		p.notify()
	}
}

func (p *pipe) notify() {
	close(p.changed)
	p.changed = make(chan struct{})
}

// Read implements io.Reader for the one who feeds the command.
func (p *pipe) Read(b []byte) (int, error) {
	p.begun()
	for {
		p.mu.Lock()
		if p.gone {
			p.mu.Unlock()
			return 0, io.ErrClosedPipe
		}
		if n := copy(b, p.buf); n > 0 || len(b) == 0 {
			p.buf = p.buf[n:]
			p.notify()
			p.mu.Unlock()
			return n, nil
		}
		last, changed := p.last, p.changed
		p.mu.Unlock()
		if last {
			return 0, io.EOF
		}
		<-changed
	}
}

// Close implements io.Closer: there are no readers any more.
func (p *pipe) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.gone = true
	p.notify()
	return nil
}
