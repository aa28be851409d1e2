package mcptools

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// maxMessage is the largest message of a server in bytes.
const maxMessage = 16 << 20

// passMessages passes on the lines of a process's output that are messages, and gives others
// to note. A malformed message, or one that is too long, ends the stream.
func passMessages(out io.Reader, to *io.PipeWriter, note func(line []byte)) {
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, maxMessage)
	for lines.Scan() {
		line := bytes.TrimSpace(lines.Bytes())
		switch _, err := jsonrpc.DecodeMessage(line); {
		case err == nil:
			_, _ = to.Write(append(line, '\n')) // fails once it is closed
		case bytes.Contains(line, []byte(`"jsonrpc"`)):
			to.CloseWithError(err)
		case len(line) > 0:
			note(line)
		}
	}
	to.CloseWithError(lines.Err())
	_, _ = io.Copy(io.Discard, out) // so that the process does not wait
}

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
