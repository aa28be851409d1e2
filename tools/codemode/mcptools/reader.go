package mcptools

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
)

// maxMessage is the largest message of a server in bytes.
const maxMessage = 16 << 20

// A lineReader reads the lines of a stream as convert changes them. A line that is too
// long ends it.
type lineReader struct {
	io.Closer
	lines   *bufio.Scanner
	convert func(line []byte) []byte
	text    []byte // not read yet
}

func newLineReader(in io.Reader, c io.Closer, convert func(line []byte) []byte) *lineReader {
	r := &lineReader{Closer: c, lines: bufio.NewScanner(in), convert: convert}
	r.lines.Buffer(nil, maxMessage)
	return r
}

// Read implements io.Reader.
func (r *lineReader) Read(p []byte) (int, error) {
	for len(r.text) == 0 {
		if !r.lines.Scan() {
			if err := r.lines.Err(); err != nil {
				return 0, err
			}
			return 0, io.EOF
		}
		r.text = r.convert(r.lines.Bytes())
	}
	n := copy(p, r.text)
	r.text = r.text[n:]
	return n, nil
}

// lines reads messages from the lines of a process's output.
func (r *repairer) lines(out io.Reader, c io.Closer) io.ReadCloser {
	return newLineReader(out, c, func(line []byte) []byte {
		if m := r.message(line, nil); m != nil {
			return append(m, '\n')
		}
		return nil
	})
}

// events reads a stream of server-sent events, each a message on one line.
func (r *repairer) events(body io.ReadCloser, pending json.RawMessage) io.ReadCloser {
	return newLineReader(body, body, func(line []byte) []byte {
		data, ok := bytes.CutPrefix(line, []byte("data:"))
		if data = bytes.TrimSpace(data); !ok || len(data) == 0 {
			return append(bytes.Clone(line), '\n')
		}
		if m := r.message(data, pending); m != nil {
			return append(append([]byte("data: "), m...), '\n')
		}
		return []byte(":\n") // a comment
	})
}

// body returns the message that is the whole body of an answer over HTTP.
func (r *repairer) body(body io.ReadCloser, pending json.RawMessage) ([]byte, error) {
	defer body.Close()
	text, err := io.ReadAll(io.LimitReader(body, maxMessage)) // what is cut is not valid JSON
	if err != nil || pending == nil {
		return text, err
	}
	if m := r.message(text, pending); m != nil {
		return m, nil
	}
	return failed(pending, "the answer is not a message"), nil
}
