package mcptools

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"math"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/toolcell/toolcell/internal/jsontally"
)

// lines is a connection to a process, a message a line. The SDK's own ends with the
// first line that is no message, as those that a launcher prints.
type lines struct {
	p    *process
	read chan line // closed once there is no more
	list []jsonrpc.Message
}

type line struct {
	messages []jsonrpc.Message
	err      error
}

func newLines(p *process) *lines {
	c := &lines{p: p, read: make(chan line)}
	// Beside Read, which does not wait for a process that has ended, though something
	// else holds its output open.
	go func() {
		defer close(c.read)
		for r := (lineReader{in: bufio.NewReaderSize(p.stdout, 64<<10), strays: p.strays}); ; {
			list, err := r.next()
			select {
			case c.read <- line{list, err}:
			case <-p.over:
				return
			}
			if err != nil {
				return
			}
		}
	}()
	return c
}

// SessionID implements mcp.Connection.
func (*lines) SessionID() string { return "" }

// Read implements mcp.Connection.
func (c *lines) Read(ctx context.Context) (jsonrpc.Message, error) {
	for len(c.list) == 0 {
		select {
		case l, ok := <-c.read:
			if !ok {
				return nil, io.EOF
			}
			if l.err != nil {
				return nil, l.err
			}
			c.list = l.messages
		case <-c.p.over:
			return nil, io.EOF
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	m := c.list[0]
	c.list = c.list[1:]
	return m, nil
}

// Write implements mcp.Connection. A patientConn has one at a time.
func (c *lines) Write(_ context.Context, m jsonrpc.Message) error {
	data, err := jsonrpc.EncodeMessage(m)
	if err != nil {
		return err
	}
	_, err = c.p.stdin.Write(append(data, '\n'))
	return err
}

// Close implements mcp.Connection.
func (c *lines) Close() error { return c.p.Close() }

// A lineReader takes messages from the lines of a server's output.
type lineReader struct {
	in     *bufio.Reader
	strays *strays

	lines, bytes int // since the last message
}

// next returns the messages of the next line that has some.
func (r *lineReader) next() ([]jsonrpc.Message, error) {
	for {
		text, err := readLine(r.in)
		if err != nil && len(text) == 0 {
			return nil, err
		}
		list, err := r.decode(bytes.TrimSpace(text))
		if err != nil {
			return nil, err
		}
		if len(list) > 0 {
			r.lines, r.bytes = 0, 0
			return list, nil
		}
		if r.bytes += len(text); r.bytes > maxStrayBytes || r.lines > maxStrays {
			return nil, errStrays
		}
	}
}

// opens reports whether a line may be that of a message.
func opens(text []byte) bool { return len(text) > 0 && (text[0] == '{' || text[0] == '[') }

// decode returns the messages of a line: several where it is a list.
func (r *lineReader) decode(text []byte) ([]jsonrpc.Message, error) {
	if len(text) == 0 {
		return nil, nil
	}
	var batch []json.RawMessage
	if text[0] == '[' && jsontally.Members(text) > maxMembers {
		return nil, errMembers
	}
	if text[0] != '[' || json.Unmarshal(text, &batch) != nil {
		batch = []json.RawMessage{text}
	}
	var list []jsonrpc.Message
	for _, one := range batch {
		m, err := message(one)
		if err != nil {
			return nil, err
		}
		if m == nil {
			r.lines++
			r.strays.note(one)
			continue
		}
		list = append(list, m)
	}
	return list, nil
}

// message decodes a message. It returns neither that nor an error where text is none
// that anybody waits for: no object of the protocol, or one with an id that no
// request of ours has and no answer of ours could have.
func message(text []byte) (jsonrpc.Message, error) {
	if !opens(text) {
		return nil, nil
	}
	var head struct {
		Version json.RawMessage `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Method  json.RawMessage `json:"method"`
	}
	broken := json.Unmarshal(text, &head) // the SDK takes the first of several values
	switch {
	// Not left out: a call may wait for it.
	case broken != nil && bytes.Contains(text, []byte(`"jsonrpc"`)):
		return nil, broken
	case broken != nil || head.Version == nil || !isID(head.ID, head.Method != nil):
		return nil, nil
	}
	return jsonrpc.DecodeMessage(text)
}

// isID reports whether an id is one of a request or, where there is no method, of an
// answer.
func isID(raw json.RawMessage, method bool) bool {
	if raw == nil || string(raw) == "null" {
		return method // a notification
	}
	var n float64 // of a part of which the SDK would take the whole
	return raw[0] == '"' || json.Unmarshal(raw, &n) == nil && n == math.Trunc(n)
}

// readLine returns the next line of at most maxMessage bytes, with its end, in memory
// of its own.
func readLine(in *bufio.Reader) (text []byte, err error) {
	for {
		part, err := in.ReadSlice('\n')
		if text = append(text, part...); len(text) > maxMessage {
			return nil, errHuge
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return text, err
		}
	}
}
