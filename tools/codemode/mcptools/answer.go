package mcptools

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net/http"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

const otherText = "the server has answered with what is no answer to this request. It may or may not have been done."

// A wanted is the request which the body of an HTTP server's answer belongs to.
type wanted struct {
	id   jsonrpc.ID
	list *lister // nil where it is none of a list
}

// asked returns what a request asks for, whose id is not valid where that is nothing.
func asked(r *http.Request) (a wanted) {
	if r.Method != http.MethodPost || r.GetBody == nil {
		return a
	}
	body, err := r.GetBody()
	if err != nil {
		return a
	}
	defer body.Close()
	// A message of ours begins with its version and, if it has one, its id.
	var begin [5]json.Token
	in := json.NewDecoder(body)
	for i := range begin {
		if begin[i], err = in.Token(); err != nil {
			return a
		}
	}
	if begin[3] == "id" {
		a.id, _ = jsonrpc.MakeID(begin[4])
	}
	a.list, _ = r.Context().Value(listerKey{}).(*lister)
	return a
}

// body returns a body of what the SDK can take: one that is no stream has the answer
// to the request, for which the SDK would wait for ever, and a list has no malformed
// tools.
func (a wanted) body(b io.ReadCloser, stream bool) io.ReadCloser {
	switch {
	case !a.id.IsValid(), stream && a.list == nil:
		return b
	case stream:
		return &editedBody{ReadCloser: b, next: events(b, a)}
	}
	return &editedBody{ReadCloser: b, next: func() ([]byte, error) {
		text, err := io.ReadAll(b)
		if err != nil {
			return nil, err
		}
		return a.edit(text, false), io.EOF
	}}
}

// events returns the lines of a stream, in which a message has one.
func events(b io.Reader, a wanted) func() ([]byte, error) {
	in := bufio.NewReader(b)
	return func() ([]byte, error) {
		line, err := readLine(in)
		if text, ok := bytes.CutPrefix(line, []byte("data:")); ok {
			line = append(append([]byte("data: "), a.edit(bytes.TrimSpace(text), true)...), '\n')
		}
		return line, err
	}
}

// edit returns a message as the SDK can take it. Of a stream's messages only a list is
// another then.
func (a wanted) edit(text []byte, stream bool) []byte {
	var m struct {
		ID     any             `json:"id"`
		Method json.RawMessage `json:"method"`
		Result json.RawMessage `json:"result"`
		Error  *jsonrpc.Error  `json:"error"`
	}
	if json.Unmarshal(text, &m) != nil {
		return text
	}
	id, err := jsonrpc.MakeID(m.ID)
	is := err == nil && id == a.id && m.Method == nil
	r := &jsonrpc.Response{ID: a.id}
	switch {
	case is && a.list != nil && m.Result != nil:
		if r.Result = a.list.sound(m.Result); len(r.Result) == len(m.Result) {
			return text
		}
	case is, stream:
		return text
	case m.ID == nil && m.Error != nil: // as of a request that it could not read
		r.Error = m.Error
	default:
		r.Error = &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: otherText}
	}
	edited, err := jsonrpc.EncodeMessage(r)
	if err != nil {
		return text
	}
	return edited
}

// An editedBody is a body of what next returns, until that is an error.
type editedBody struct {
	io.ReadCloser
	next func() ([]byte, error)
	text []byte
	err  error
}

func (b *editedBody) Read(p []byte) (int, error) {
	for len(b.text) == 0 {
		if b.err != nil {
			return 0, b.err
		}
		b.text, b.err = b.next()
	}
	n := copy(p, b.text)
	b.text = b.text[n:]
	return n, nil
}
