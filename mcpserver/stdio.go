package mcpserver

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	// closing bounds how long a server waits at its end for clients that do not read:
	// less than the ten seconds after which servers are often killed.
	closing = 7 * time.Second

	// maxLine is the longest message on a stream in bytes.
	maxLine = 16 << 20
)

// ServeStream serves one client over a pair of streams, such as standard input and output,
// until in ends or ctx does, and closes the server; it returns nil then. A line that is not
// a message is answered with an error. When it returns, nothing that the client started
// is running.
func (s *Server) ServeStream(ctx context.Context, in io.Reader, out io.Writer) error {
	answers := &lineWriter{out: out}
	lines := &lineReader{in: bufio.NewReaderSize(in, 64<<10), answers: answers}
	ss, err := s.mcp.Connect(s.ctx, &mcp.IOTransport{Reader: io.NopCloser(lines), Writer: answers, MaxLineLength: -1}, nil)
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
	case <-time.After(closing):
		return errors.New("mcpserver: the client does not read its answers")
	}
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("mcpserver: %w", err)
	}
	return nil
}

// A lineReader passes on the messages of a stream and answers other lines, which would
// end the session.
type lineReader struct {
	in      *bufio.Reader
	answers io.Writer
	line    []byte // not passed on yet
}

// Read implements io.Reader.
func (r *lineReader) Read(p []byte) (int, error) {
	for len(r.line) == 0 {
		line, err := r.next()
		if len(line) == 0 && err != nil {
			return 0, err
		}
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		id, code, fail := checkMessages(line)
		switch {
		case fail == nil:
			r.line = split(line)
		case err != nil: // the stream ended within a message
			return 0, err
		case id != nil || fail != errRounded: // a notification is not answered
			r.answers.Write(fault(id, code, fail))
		}
	}
	n := copy(p, r.line)
	r.line = r.line[n:]
	return n, nil
}

// split returns the messages of a valid line, each on a line of its own: not every revision
// of the protocol has batches.
func split(line []byte) (lines []byte) {
	var list []json.RawMessage
	if line[0] != '[' || json.Unmarshal(line, &list) != nil {
		list = []json.RawMessage{line}
	}
	for _, m := range list {
		lines = append(append(lines, m...), '\n')
	}
	return lines
}

// next returns the next line, empty if it is too long.
func (r *lineReader) next() ([]byte, error) {
	var line []byte
	for size := 0; ; {
		part, err := r.in.ReadSlice('\n')
		if size += len(part); size <= maxLine {
			line = append(line, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
		case size > maxLine:
			r.answers.Write(fault(nil, jsonrpc.CodeInvalidRequest, fmt.Errorf("a message of %d bytes, more than %d", size, maxLine)))
			return nil, nil
		case err != nil && !json.Valid(line):
			return nil, err
		case err != nil:
			return line, nil // err comes again
		default:
			return line, nil
		}
	}
}

// A lineWriter writes one message at a time. It does not close its writer.
type lineWriter struct {
	mu  sync.Mutex
	out io.Writer
}

// Write implements io.Writer.
func (w *lineWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.out.Write(p)
}

// Close implements io.Closer.
func (w *lineWriter) Close() error { return nil }
