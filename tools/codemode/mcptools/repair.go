package mcptools

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"io"
	"math"
	"regexp"
	"strconv"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// A repairer turns the output of a server into messages that the SDK can read. A
// malformed message would end the session and all its calls.
type repairer struct {
	note func(line []byte) // records what is not a message
}

// message returns the message that text is, in the form that the SDK reads; nil if it is
// none. pending is the id of the HTTP request that text answers, or nil.
func (r *repairer) message(text []byte, pending json.RawMessage) []byte {
	text = bytes.TrimSpace(text)
	var m map[string]json.RawMessage
	var found []byte
	if json.Unmarshal(text, &m) != nil && len(text) > 0 && text[0] == '{' {
		// The call whose answer cannot be read fails, if its id is found.
		for _, re := range idPatterns() {
			if at := re.FindSubmatch(text); at != nil && found == nil {
				found = at[1]
			}
		}
		if id := requestID(found, pending); id != nil {
			return failed(id, "the answer is not valid JSON")
		}
	}
	one := message(m, pending)
	if one == nil && len(text) > 0 {
		r.note(text)
	}
	return one
}

// message returns a message in the form that the SDK reads, or nil if m is not a message.
func message(m map[string]json.RawMessage, pending json.RawMessage) []byte {
	if m == nil {
		return nil
	}
	id, result, fault := requestID(m["id"], pending), m["result"], m["error"]
	versioned := m["jsonrpc"] != nil
	m["jsonrpc"] = json.RawMessage(`"2.0"`)
	switch {
	case m["method"] != nil:
		raw := marshal(m)
		if _, err := jsonrpc.DecodeMessage(raw); err != nil {
			return nil
		}
		return raw
	case id == nil || !versioned && result == nil && fault == nil:
		return nil
	case pending != nil && !bytes.Equal(id, pending):
		return failed(pending, "the server has answered another request")
	case fault != nil && string(fault) != "null":
		return answer(id, "error", errorOf(fault))
	case result == nil:
		return failed(id, "the answer has neither a result nor an error")
	}
	return resultOf(id, result)
}

func answer(id json.RawMessage, key string, value any) []byte {
	return marshal(map[string]any{"jsonrpc": "2.0", "id": id, key: value})
}

// failed answers a call in place of the server.
func failed(id json.RawMessage, why string) []byte {
	return answer(id, "error", &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: why + ". The call may or may not have been done."})
}

// errorOf returns the error of an answer, which may be any JSON.
func errorOf(raw json.RawMessage) *jsonrpc.Error {
	var e jsonrpc.Error
	if json.Unmarshal(raw, &e) == nil && e.Message != "" {
		return &e
	}
	return &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: cmp.Or(textOf(membersOf(raw)["message"]), textOf(raw))}
}

// resultOf returns the answer with a result that the SDK can decode: content that it does
// not know is text with its JSON.
func resultOf(id, raw json.RawMessage) []byte {
	if isResult(raw) {
		return answer(id, "result", raw)
	}
	m := membersOf(raw)
	var content []json.RawMessage
	_ = json.Unmarshal(m["content"], &content)
	for i, one := range content {
		if !isResult(marshal(map[string]any{"content": []json.RawMessage{one}})) {
			content[i] = marshal(map[string]string{"type": "text", "text": textOf(one)})
		}
	}
	if content == nil {
		return failed(id, "the answer is not the result of a call")
	}
	m["content"] = marshal(content)
	return answer(id, "result", marshal(m))
}

// isResult reports whether the SDK can decode the result of a call.
func isResult(raw json.RawMessage) bool { return json.Unmarshal(raw, new(mcp.CallToolResult)) == nil }

// textOf returns the string that raw is, or its JSON.
func textOf(raw json.RawMessage) (text string) {
	if json.Unmarshal(raw, &text) != nil {
		return string(raw)
	}
	return text
}

// requestID returns the id of a request of ours, an integer that some servers repeat as a
// string or as a float. Without one in the answer it is pending, which may be nil.
func requestID(id, pending json.RawMessage) json.RawMessage {
	n, err := strconv.ParseFloat(textOf(id), 64)
	if err != nil || n != math.Trunc(n) || n < 0 || n > 1<<53 {
		return pending
	}
	return json.RawMessage(strconv.FormatInt(int64(n), 10))
}

// idPatterns find the id of a message that is not valid JSON or was shortened, at its
// beginning or at its end.
var idPatterns = sync.OnceValue(func() []*regexp.Regexp {
	const version, id = `"jsonrpc"\s*:\s*"2\.0"`, `"id"\s*:\s*"?([0-9]+)"?\s*`
	return []*regexp.Regexp{
		regexp.MustCompile(`^\s*\{\s*(?:` + version + `\s*,\s*)?` + id + `[,}]`),
		regexp.MustCompile(`,\s*` + id + `(?:,\s*` + version + `\s*)?\}\s*$`),
	}
})

// membersOf returns the members of an object by their exact names, nil for other JSON.
func membersOf(raw json.RawMessage) (m map[string]json.RawMessage) {
	_ = json.Unmarshal(raw, &m)
	return m
}

// marshal renders a value that always has JSON.
func marshal(v any) json.RawMessage {
	raw, err := json.Marshal(v)
	if err != nil {
		return json.RawMessage("null")
	}
	return raw
}

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
