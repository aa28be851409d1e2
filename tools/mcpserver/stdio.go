package mcpserver

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// maxLine is the longest message on a stream in bytes.
const maxLine = 16 << 20

// drain is how long ServeStream waits at its end for a client that has stopped
// reading.
const drain = 10 * time.Second

// ServeStream serves one client over a pair of streams, such as standard input
// and output, until in ends or ctx does, and closes the server. It returns nil
// in both cases. When it returns, nothing that the client started still runs.
func (s *Server) ServeStream(ctx context.Context, in io.Reader, out io.Writer) error {
	ss, err := s.mcp.Connect(s.ctx, &mcp.IOTransport{
		Reader: io.NopCloser(in), Writer: nopCloser{out}, MaxLineLength: maxLine,
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

type nopCloser struct{ io.Writer }

func (nopCloser) Close() error { return nil }
