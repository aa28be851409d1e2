package mcptools

import (
	"context"
	"errors"
	"io"
	"os/exec"
	"sync"
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
	return (&mcp.IOTransport{Reader: io.NopCloser(stdout), Writer: p}).Connect(ctx)
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
			p.end()
			p.mu.Lock()
			p.freed = true
			p.mu.Unlock()
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
