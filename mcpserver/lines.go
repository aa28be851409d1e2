package mcpserver

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// maxLine is the longest message on a stream in bytes.
const maxLine = 16 << 20

// A lineReader passes on the messages of a stream, a line each, and answers
// those that are none, which would otherwise end the session.
type lineReader struct {
	in      *bufio.Reader
	answer  io.Writer
	backlog *backlog
	greeted bool     // the client has said which revision of the protocol it speaks
	batches bool     // which has them
	line    []byte   // what was not passed on yet
	more    [][]byte // lines after it
}

// Read is for [io.Reader].
func (r *lineReader) Read(p []byte) (int, error) {
	for len(r.line) == 0 {
		// One at a time: the SDK counts what it reads at once as one message.
		if len(r.more) > 0 {
			r.line, r.more = append(r.more[0], '\n'), r.more[1:]
			break
		}
		line, err := r.next()
		if err != nil {
			return 0, err
		}
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		calls, id, code, err := r.check(line)
		if err == errNoRequest && line[0] != '[' {
			continue // a notification, which nobody answers
		}
		if err != nil {
			r.refuse(id, code, err)
			continue
		}
		r.backlog.add(calls, len(line))
		r.more = linesOf(line)
	}
	n := copy(p, r.line)
	r.line = r.line[n:]
	return n, nil
}

// next reads a line of any length, and returns it, or nothing where it is too
// long. What the stream ends with is a line as well.
func (r *lineReader) next() ([]byte, error) {
	var line []byte
	for size := 0; ; {
		part, err := r.in.ReadSlice('\n')
		if size += len(part); size <= maxLine {
			line = append(line, part...)
		} else {
			// Read on to its end all the same, where the next message begins.
			line = nil
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
		case err != nil && (size == 0 || !json.Valid(line)):
			return nil, err
		case size > maxLine:
			r.refuse(nil, jsonrpc.CodeInvalidRequest, fmt.Errorf("a message of %d bytes, more than %d", size, maxLine))
			return nil, nil
		default:
			return line, nil
		}
	}
}

// check returns the requests of a line, or says what is wrong with it and with which
// id to answer it.
func (r *lineReader) check(line []byte) (calls map[jsonrpc.ID]bool, id json.RawMessage, code int64, err error) {
	if !json.Valid(line) {
		return nil, nil, jsonrpc.CodeParseError, errors.New("not valid JSON; a message is one line")
	}
	if err := weigh(line); err != nil && line[0] != '[' {
		return nil, idOf(line), jsonrpc.CodeInvalidRequest, err
	} else if err != nil {
		return nil, nil, jsonrpc.CodeInvalidRequest, err
	}
	var messages []json.RawMessage
	batch := line[0] == '['
	if !batch {
		messages = append(messages, line)
	} else if !r.batches {
		return nil, nil, jsonrpc.CodeInvalidRequest, errors.New("this revision of the protocol has no batches")
	} else if json.Unmarshal(line, &messages); len(messages) == 0 {
		return nil, nil, jsonrpc.CodeInvalidRequest, errors.New("an empty batch")
	}
	// Nobody could tell which of two calls with one id an answer is to.
	calls = map[jsonrpc.ID]bool{}
	for _, m := range messages {
		if id, code, err = r.message(m, calls); err != nil {
			return nil, id, code, err
		}
	}
	if batch && r.backlog.waits(calls) {
		return nil, nil, jsonrpc.CodeInvalidRequest, errors.New("a batch has the id of a request that is not answered yet")
	}
	return calls, nil, 0, nil
}

// linesOf returns what is served of a line. The notifications of a batch that somebody
// heeds have lines of their own, before it or behind it: to the SDK they are requests
// there, which the answer of the batch waits for.
func linesOf(line []byte) (lines [][]byte) {
	messages, batch := messagesOf(line)
	var left []json.RawMessage
	var behind [][]byte
	for _, m := range messages {
		switch c := contentOf(m); {
		case c.body == nil: // nobody heeds it
		case c.notes == 0:
			left = append(left, m)
		case len(left) == 0:
			lines = append(lines, c.body)
		default:
			behind = append(behind, c.body)
		}
	}
	switch {
	case len(left) == 0:
	case batch:
		b, _ := json.Marshal(left)
		lines = append(lines, b)
	default:
		lines = append(lines, left[0])
	}
	return append(lines, behind...)
}

// idOf returns the id of a message that may be none. An id is a string, a number or
// null (JSON-RPC 2.0, 4): others are not repeated.
func idOf(m json.RawMessage) json.RawMessage {
	id := membersOf(m)["id"]
	if len(id) > 0 && bytes.IndexByte([]byte("{[tf"), id[0]) >= 0 {
		return nil
	}
	return id
}

func (r *lineReader) message(m json.RawMessage, seen map[jsonrpc.ID]bool) (json.RawMessage, int64, error) {
	msg, err := jsonrpc.DecodeMessage(m)
	if err != nil {
		return idOf(m), jsonrpc.CodeInvalidRequest, fmt.Errorf("not a JSON-RPC message: %w", err)
	}
	req, ok := msg.(*jsonrpc.Request)
	if !ok {
		return nil, 0, nil
	}
	if id, err := misnamed(m); err != nil {
		return id, jsonrpc.CodeInvalidRequest, err
	}
	var hello mcp.InitializeParams
	if !r.greeted && req.Method == "initialize" && json.Unmarshal(req.Params, &hello) == nil { // another one is refused
		r.greeted, r.batches = true, textOf(membersOf(req.Params)["protocolVersion"]) == "2025-03-26"
	}
	if req.ID.IsValid() && seen[req.ID] {
		return nil, jsonrpc.CodeInvalidRequest, errors.New("a batch has the same id twice")
	}
	if req.ID.IsValid() {
		seen[req.ID] = true
	}
	return nil, 0, nil
}

// refuse answers a line that is not served.
func (r *lineReader) refuse(id json.RawMessage, code int64, err error) {
	r.answer.Write(fault(id, code, err))
}

// A lineWriter writes lines, one at a time. It does not close what it writes to.
type lineWriter struct {
	mu      sync.Mutex
	out     io.Writer
	backlog *backlog
}

func (w *lineWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	defer w.backlog.written(p)
	return w.out.Write(p)
}

// Close is for [io.Closer].
func (w *lineWriter) Close() error { return nil }
