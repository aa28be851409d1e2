package mcptools

import (
	"context"
	"errors"
	"io"
	"os/exec"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// terminating is how long a server may take to end by itself, and again once it
// was told to.
const terminating = 2 * time.Second

var errUnending = errors.New("the server's process does not end")

// A process is the transport to a server that it starts, over standard input and
// output. The SDK's own reaps the server before what it left in its group can be
// ended, when the id of the group may be a stranger's.
type process struct {
	cmd   *exec.Cmd
	stdin io.WriteCloser

	said   atomic.Bool // it has put something out
	once   sync.Once
	closed chan struct{} // once it has ended and was waited for

	mu    sync.Mutex
	freed bool // the ids are not its own any more
}

// Connect implements mcp.Transport.
func (p *process) Connect(ctx context.Context) (mcp.Connection, error) {
	stdout, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if p.stdin, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	p.watch()
	return (&mcp.IOTransport{Reader: io.NopCloser(&hearing{stdout, &p.said}), Writer: p}).Connect(ctx)
}

// A hearing is a reader that notes that there was something.
type hearing struct {
	io.Reader
	said *atomic.Bool
}

func (h *hearing) Read(b []byte) (int, error) {
	n, err := h.Reader.Read(b)
	if n > 0 && !h.said.Load() {
		h.said.Store(true)
	}
	return n, err
}

// ended returns how the process has ended, in words, and nothing where it has not
// within the time that it takes to end by itself.
func (p *process) ended() string {
	select {
	case <-p.closed:
		return p.cmd.ProcessState.String()
	case <-time.After(terminating):
		return ""
	}
}

// Write implements io.Writer.
func (p *process) Write(b []byte) (int, error) { return p.stdin.Write(b) }

// Close ends the server as MCP wants it: its input ends, then it is told to end,
// then it is killed.
func (p *process) Close() error {
	p.stdin.Close()
	ended := make(chan struct{})
	go func() {
		awaitEnd(p.cmd)
		close(ended)
	}()
	for _, end := range []func(){func() { terminate(p.cmd) }, p.end, nil} {
		select {
		case <-ended:
			// Before Wait frees the id of the group, which may be a stranger's afterwards.
			p.end()
			p.mu.Lock()
			p.freed = true
			p.mu.Unlock()
			defer p.once.Do(func() { close(p.closed) })
			return p.cmd.Wait()
		case <-time.After(terminating):
		}
		if end != nil {
			end()
		}
	}
	return errUnending
}

// end kills what there is of the server's group, as that a launcher started.
func (p *process) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cmd.Process != nil && !p.freed {
		endGroup(p.cmd)
	}
}
