package mcptools

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// maxMessage is the largest message of a server in bytes.
const maxMessage = 16 << 20

var errHuge = fmt.Errorf("a message of more than %d bytes", maxMessage)

// A repairedReader reads the pieces that next returns, until that is an error.
type repairedReader struct {
	next  func() ([]byte, error)
	close func() error
	text  []byte
	err   error
}

// Read implements io.Reader.
func (r *repairedReader) Read(p []byte) (int, error) {
	for len(r.text) == 0 {
		if r.err != nil {
			return 0, r.err
		}
		r.text, r.err = r.next()
	}
	n := copy(p, r.text)
	r.text = r.text[n:]
	return n, nil
}

// Close implements io.Closer.
func (r *repairedReader) Close() error { return r.close() }

// newMessageReader reads messages from the lines of a process's output.
func newMessageReader(out io.Reader, repair *repairer, closing func() error) io.ReadCloser {
	in := bufio.NewReaderSize(out, 64<<10)
	return &repairedReader{close: closing, next: func() ([]byte, error) {
		line, err := readLine(in)
		if errors.Is(err, errHuge) {
			// Only its call fails, if the id is found at one of its ends.
			if list := repair.broken(line, nil, "the server has answered with "+errHuge.Error()); list != nil {
				return append(list[0], '\n'), nil
			}
			return nil, err
		}
		var text []byte
		for _, m := range repair.messages(line, nil) {
			text = append(append(text, m...), '\n')
		}
		return text, err
	}}
}

// readLine returns the next line with its end. Of one that is too long it returns both
// ends with errHuge.
func readLine(in *bufio.Reader) (text []byte, err error) {
	const end = 1 << 10
	huge := false
	for {
		part, err := in.ReadSlice('\n')
		text = append(text, part...)
		if len(text) > maxMessage {
			huge = true
		}
		if huge && len(text) > 2*end {
			text = append(text[:end:end], text[len(text)-end:]...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
		case huge:
			return text, errHuge
		default:
			return text, err
		}
	}
}

// newAnswerReader reads the body of an answer over HTTP that is one message.
func newAnswerReader(body io.ReadCloser, repair *repairer, pending json.RawMessage) io.ReadCloser {
	return &repairedReader{close: body.Close, next: func() ([]byte, error) {
		text, err := io.ReadAll(body)
		if _, huge := errors.AsType[*http.MaxBytesError](err); huge && pending != nil {
			return failed(pending, "the server has answered with "+errHuge.Error()), io.EOF
		} else if err != nil {
			return nil, err
		}
		list := repair.messages(text, pending)
		switch {
		case len(list) == 1:
			return list[0], io.EOF
		case len(list) == 0 && pending != nil:
			return failed(pending, "the server's answer is no message. The call may or may not have been done."), io.EOF
		}
		return text, io.EOF
	}}
}

// newEventReader reads a stream of events whose data are messages, each on one line.
func newEventReader(body io.ReadCloser, repair *repairer, pending json.RawMessage) io.ReadCloser {
	in := bufio.NewReaderSize(body, 64<<10)
	return &repairedReader{close: body.Close, next: func() ([]byte, error) {
		line, err := readLine(in)
		if errors.Is(err, errHuge) && pending != nil {
			return append(append([]byte("data: "), failed(pending, "the server has answered with "+errHuge.Error())...), '\n'), nil
		}
		data, ok := bytes.CutPrefix(line, []byte("data:"))
		// The endpoint event of the SSE transport is a path.
		if data = bytes.TrimSpace(data); !ok || len(data) == 0 || data[0] != '{' && data[0] != '[' {
			return line, err
		}
		text := []byte(":\n") // a comment, if there is no message
		for i, m := range repair.messages(data, pending) {
			if i > 0 {
				text = append(text, '\n') // the end of an event
			}
			text = append(append(append(text, "data: "...), m...), '\n')
		}
		return text, err
	}}
}

// requestID returns the id of the call in a request, nil if there is none.
func requestID(r *http.Request) json.RawMessage {
	if r.Method != http.MethodPost || r.GetBody == nil {
		return nil
	}
	body, err := r.GetBody()
	if err != nil {
		return nil
	}
	defer body.Close()
	// A message of ours begins with its version and, if it has one, its id.
	head := make([]byte, 64)
	n, _ := io.ReadFull(body, head)
	id := idIn(head[:n])
	if id == nil {
		return nil
	}
	if _, err := jsonrpc.MakeID(string(id)); err != nil {
		return nil
	}
	return id
}

func mediaType(h http.Header) string {
	kind, _, err := mime.ParseMediaType(h.Get("Content-Type"))
	if err != nil {
		return ""
	}
	return kind
}
