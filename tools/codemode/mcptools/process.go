package mcptools

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	// terminating is how long a server may take to end by itself, and again once it
	// was told to.
	terminating = 2 * time.Second

	// lasting is how long the output of a process that has ended is read, where
	// something else holds it open.
	lasting = 500 * time.Millisecond
)

var errUnending = errors.New("the server's process does not end")

// A process is the transport to a server that it starts, over standard input and
// output. The SDK's own does not notice the process's end while something else holds
// its output open, and reaps it before what it left in its group can be ended, when
// the id of the group may be a stranger's.
type process struct {
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	stdout *os.File
	strays *strays

	closed chan struct{} // once it has ended and was waited for
	once   sync.Once
	over   chan struct{} // once its output is not read any more

	mu    sync.Mutex
	freed bool // the ids are not its own any more
}

func newProcess(cmd *exec.Cmd) *process {
	return &process{cmd: cmd, strays: &strays{}, closed: make(chan struct{}), over: make(chan struct{})}
}

// Connect implements mcp.Transport.
func (p *process) Connect(context.Context) (mcp.Connection, error) {
	if err := p.start(); err != nil {
		return nil, err
	}
	return newLines(p), nil
}

func (p *process) start() (err error) {
	// No StdoutPipe, which is closed once the process was waited for, whatever is left
	// in it.
	out, theirs, err := os.Pipe()
	if err != nil {
		return err
	}
	defer theirs.Close()
	p.stdout, p.cmd.Stdout = out, theirs
	if p.stdin, err = p.cmd.StdinPipe(); err == nil {
		err = p.cmd.Start()
	}
	if err != nil {
		out.Close()
		return err
	}
	go p.wait() // ends with the process
	return nil
}

// wait waits for the process, and ends what it left behind, in its group and by
// taking its output from it.
func (p *process) wait() {
	awaitEnd(p.cmd)
	time.AfterFunc(lasting, p.cut)
	// Before Wait frees the id of the group, which may be a stranger's afterwards.
	p.end()
	p.mu.Lock()
	p.freed = true
	p.mu.Unlock()
	p.cmd.Wait()
	close(p.closed)
}

// cut ends the reading of its output.
func (p *process) cut() {
	p.once.Do(func() {
		close(p.over)
		p.stdout.Close()
	})
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

// Close ends the server as MCP wants it: its input ends, then it is told to end,
// then it is killed.
func (p *process) Close() error {
	defer p.cut()
	p.stdin.Close()
	for _, end := range []func(){func() { terminate(p.cmd) }, p.end, nil} {
		select {
		case <-p.closed:
			return nil
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
