package mcpserver

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// drain is how long ServeStream waits at its end for a client that has stopped
// reading, and Serve for those that have: less than the ten seconds after which those
// who end servers kill them.
const drain = 7 * time.Second

// ServeStream serves one client over a pair of streams, such as standard input
// and output, until in ends or ctx does, and closes the server. It returns nil
// in both cases. A line that is no message is answered with an error and left
// out. When it returns, nothing that the client started still runs.
func (s *Server) ServeStream(ctx context.Context, in io.Reader, out io.Writer) error {
	waiting := newBacklog()
	answers := &lineWriter{out: out, backlog: waiting}
	lines := &lineReader{in: bufio.NewReaderSize(in, 64<<10), answer: answers, backlog: waiting}
	ss, err := s.mcp.Connect(s.ctx, &mcp.IOTransport{
		Reader: io.NopCloser(lines), Writer: answers, MaxLineLength: maxLine + 1, // and the newline
	}, nil)
	if err != nil {
		s.Close()
		return fmt.Errorf("mcpserver: %w", err)
	}
	over := make(chan error, 1)
	go func() { over <- ss.Wait() }()
	select {
	case err = <-over:
	case <-ctx.Done():
	}
	waiting.close()
	closed := make(chan struct{})
	go func() {
		s.Close()
		close(closed)
	}()
	select {
	case <-closed:
	case <-time.After(drain):
		return errors.New("mcpserver: the client does not take its answers")
	}
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("mcpserver: %w", err)
	}
	return nil
}
