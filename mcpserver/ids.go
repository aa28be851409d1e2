package mcpserver

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"net/http"
	"strconv"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

var (
	// errRounded is why a message is refused whose answer would bear another's id.
	errRounded = errors.New("the id is no whole number between -(2^53-1) and 2^53-1: others are sent as strings")

	// errToken is why a request is refused whose progress would be another's.
	errToken = errors.New("the progressToken is no whole number between -(2^53-1) and 2^53-1: others are sent as strings")

	// errNoRequest is of the cancellation of a request that was refused so, which would
	// be that of another one.
	errNoRequest = errors.New("the requestId is that of no request")
)

// exact reports whether an id stays what it is where it becomes an int64 by way of a
// float64, as all numbers do that the SDK reads.
func exact(id json.RawMessage) bool {
	text := string(id)
	if text == "" || text[0] != '-' && (text[0] < '0' || text[0] > '9') {
		return true // no number
	}
	const most = 1 << 53
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return -most < n && n < most
	}
	// 1.0 or 1e3, of no more digits than a float64 has
	f, err := strconv.ParseFloat(text, 64)
	return err == nil && len(text) <= 15 && !strings.Contains(strings.ToLower(text), "e-") && f == math.Trunc(f) && math.Abs(f) < most
}

// membersOf returns the members of an object by their exact names, as the SDK takes
// them: encoding/json has those of structs in any case. It is nil for anything else.
func membersOf(m json.RawMessage) (members map[string]json.RawMessage) {
	_ = json.Unmarshal(m, &members)
	return members
}

// textOf returns what a string says, "" for anything else.
func textOf(m json.RawMessage) (text string) {
	_ = json.Unmarshal(m, &text)
	return text
}

// misnamed says what is wrong with the ids of a message, and which it has.
func misnamed(m json.RawMessage) (id json.RawMessage, err error) {
	named := membersOf(m)
	id, params := named["id"], named["params"]
	if !exact(id) {
		return id, errRounded
	}
	if textOf(named["method"]) == notifyCancelled && !exact(membersOf(params)["requestId"]) {
		return nil, errNoRequest
	}
	if !bytes.Contains(params, []byte("progressToken")) && !bytes.Contains(params, []byte(`\u`)) {
		return nil, nil // as most have none, and some are long
	}
	if !exact(membersOf(membersOf(params)["_meta"])["progressToken"]) {
		return id, errToken
	}
	return nil, nil
}

// fault is the error that answers a message.
func fault(id json.RawMessage, code int64, err error) []byte {
	type what struct {
		Code    int64  `json:"code"`
		Message string `json:"message"`
	}
	line, _ := json.Marshal(struct {
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Error   what            `json:"error"`
	}{"2.0", id, what{code, clip(err.Error())}})
	return append(line, '\n')
}

// messagesOf returns what a body has, which is one message or a batch of them. What is
// no JSON is told where it is decoded for good.
func messagesOf(body []byte) (list []json.RawMessage, batch bool) {
	body = bytes.TrimSpace(body)
	if !bytes.HasPrefix(body, []byte("[")) {
		return []json.RawMessage{body}, false
	}
	if json.Unmarshal(body, &list) != nil {
		return nil, true
	}
	return list, true
}

// refused answers an HTTP request whose messages have ids that would be rounded, and
// reports whether it did.
func refused(w http.ResponseWriter, body []byte) bool {
	messages, batch := messagesOf(body)
	for _, m := range messages {
		switch id, err := misnamed(m); {
		case err == errNoRequest && !batch:
			w.WriteHeader(http.StatusAccepted)
			return true
		case err != nil:
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusBadRequest)
			w.Write(fault(id, jsonrpc.CodeInvalidRequest, err))
			return true
		}
	}
	return false
}
