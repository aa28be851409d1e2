package mcptools

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// maxMessage is the largest message of a server in bytes.
const maxMessage = 16 << 20

var errTooLarge = fmt.Errorf("the answer has more than %d bytes", maxMessage)

// A lineReader reads the lines of in as convert changes them. A line of which only both
// ends were read has the error errTooLarge.
type lineReader struct {
	io.Closer
	in      *bufio.Reader
	convert func(line []byte, err error) []byte
	text    []byte // not read yet
	err     error
}

// Read implements io.Reader.
func (r *lineReader) Read(p []byte) (int, error) {
	for len(r.text) == 0 {
		if r.err != nil {
			return 0, r.err
		}
		line, err := readLine(r.in)
		r.text = r.convert(line, err)
		if err != errTooLarge {
			r.err = err
		}
	}
	n := copy(p, r.text)
	r.text = r.text[n:]
	return n, nil
}

// readLine returns the next line with its end, or both ends of a line that is too long.
func readLine(in *bufio.Reader) (text []byte, err error) {
	const end = 1 << 10
	large := false
	for {
		part, err := in.ReadSlice('\n')
		text = append(text, part...)
		if large = large || len(text) > maxMessage; large && len(text) > 2*end {
			text = append(text[:end:end], text[len(text)-end:]...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
		case large:
			return text, errTooLarge
		default:
			return text, err
		}
	}
}

// lines reads messages from the lines of a process's output.
func (r *repairer) lines(out io.Reader, c io.Closer) io.ReadCloser {
	return &lineReader{Closer: c, in: bufio.NewReaderSize(out, 64<<10), convert: func(line []byte, err error) []byte {
		list := r.messages
		if err == errTooLarge {
			list = func(text []byte, _ json.RawMessage) [][]byte { return r.unreadable(text, nil, err.Error()) }
		}
		var text []byte
		for _, m := range list(line, nil) {
			text = append(append(text, m...), '\n')
		}
		return text
	}}
}

// events reads a stream of server-sent events, each a message on one line.
func (r *repairer) events(body io.ReadCloser, pending json.RawMessage) io.ReadCloser {
	return &lineReader{Closer: body, in: bufio.NewReaderSize(body, 64<<10), convert: func(line []byte, err error) []byte {
		data, ok := bytes.CutPrefix(line, []byte("data:"))
		data = bytes.TrimSpace(data)
		var list [][]byte
		switch {
		case err == errTooLarge && pending != nil:
			list = [][]byte{failed(pending, err.Error())}
		// The endpoint event of the SSE transport is a path.
		case !ok || len(data) == 0 || data[0] != '{' && data[0] != '[':
			return line
		default:
			list = r.messages(data, pending)
		}
		text := []byte(":\n") // a comment, if there is no message
		for i, m := range list {
			if i > 0 {
				text = append(text, '\n') // the end of an event
			}
			text = append(append(append(text, "data: "...), m...), '\n')
		}
		return text
	}}
}

// body returns the message that is the whole body of an answer over HTTP.
func (r *repairer) body(body io.ReadCloser, pending json.RawMessage) ([]byte, error) {
	defer body.Close()
	text, err := io.ReadAll(io.LimitReader(body, maxMessage+1))
	if err != nil || pending == nil {
		return text, err
	}
	if len(text) > maxMessage {
		return failed(pending, errTooLarge.Error()), nil
	}
	if list := r.messages(text, pending); len(list) == 1 {
		return list[0], nil
	}
	return failed(pending, "the answer is not a message"), nil
}
