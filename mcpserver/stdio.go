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
// a message is answered with an error; one that is too long ends the session. When it returns, nothing that the client started
// is running.
func (s *Server) ServeStream(ctx context.Context, in io.Reader, out io.Writer) error {
	answers := &lineWriter{out: out}
	messages, to := io.Pipe()
	defer messages.Close()
	go func() { to.CloseWithError(passMessages(in, to, answers)) }()
	ss, err := s.mcp.Connect(s.ctx, &mcp.IOTransport{Reader: messages, Writer: answers, MaxLineLength: -1}, nil)
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

// passMessages passes on the messages of a stream and answers other lines, which would end
// the session.
func passMessages(in io.Reader, to, answers io.Writer) error {
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, maxLine)
	for lines.Scan() {
		line := bytes.TrimSpace(lines.Bytes())
		if len(line) == 0 {
			continue
		}
		if fault := checkMessage(line); fault != nil {
			answers.Write(fault)
		} else if _, err := to.Write(append(line, '\n')); err != nil {
			return err
		}
	}
	if lines.Err() != nil {
		return fmt.Errorf("a message of more than %d bytes: %w", maxLine, lines.Err())
	}
	return nil
}

// checkMessage returns the error that answers a line which is not a message.
func checkMessage(line []byte) []byte {
	var named map[string]json.RawMessage
	switch _, err := jsonrpc.DecodeMessage(line); {
	case !json.Valid(line):
		return fault(nil, jsonrpc.CodeParseError, "not valid JSON; a message is one line")
	case line[0] == '[':
		return fault(nil, jsonrpc.CodeInvalidRequest, "batches are not supported")
	case err != nil:
		_ = json.Unmarshal(line, &named)
		return fault(named["id"], jsonrpc.CodeInvalidRequest, "not a JSON-RPC message: "+short(err.Error(), 200))
	}
	return nil
}

// fault returns the error that answers a message.
func fault(id json.RawMessage, code int64, message string) []byte {
	if len(id) > 0 && bytes.IndexByte([]byte("{[tf"), id[0]) >= 0 {
		id = nil // JSON-RPC repeats only strings, numbers and null
	}
	line, _ := json.Marshal(struct {
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Error   *jsonrpc.Error  `json:"error"`
	}{"2.0", id, &jsonrpc.Error{Code: code, Message: message}})
	return append(line, '\n')
}

// Refuse answers the first request of a stream with the reason why there is no server, so
// that the client can show it. It waits for the request for at most ten seconds, or until
// ctx or the stream ends; a read of in may go on until the program ends.
func Refuse(ctx context.Context, in io.Reader, out io.Writer, reason error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	go func() {
		defer cancel()
		lines := bufio.NewScanner(in)
		lines.Buffer(nil, maxLine)
		for lines.Scan() {
			var m struct {
				ID     json.RawMessage
				Method string
			}
			if json.Unmarshal(lines.Bytes(), &m) == nil && m.Method != "" && m.ID != nil {
				out.Write(fault(m.ID, jsonrpc.CodeInternalError, reason.Error()))
				return
			}
		}
	}()
	<-ctx.Done()
}

// short returns the beginning of text.
func short(text string, n int) string { return text[:min(len(text), n)] }

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
