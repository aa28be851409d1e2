package mcpserver

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"strconv"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// errRounded is why a message is refused whose answer would have the id of another.
var errRounded = errors.New("a number as id must be an integer between -(2^53-1) and 2^53-1; send others as strings")

// checkMessages reports what is wrong with a message or a batch, and the id to answer. The
// SDK reads numbers as float64, so that two large ids would become one.
func checkMessages(body []byte) (id json.RawMessage, code int64, err error) {
	var list []json.RawMessage
	if !bytes.HasPrefix(bytes.TrimSpace(body), []byte("[")) {
		list = append(list, body)
	} else {
		if err := json.Unmarshal(body, &list); err != nil {
			return nil, jsonrpc.CodeParseError, errors.New("not valid JSON; a message is one line")
		}
		if len(list) == 0 {
			return nil, jsonrpc.CodeInvalidRequest, errors.New("an empty batch")
		}
	}
	for _, m := range list {
		if !json.Valid(m) {
			return nil, jsonrpc.CodeParseError, errors.New("not valid JSON; a message is one line")
		}
		var named map[string]json.RawMessage
		_ = json.Unmarshal(m, &named)
		if id = named["id"]; len(id) > 0 && bytes.IndexByte([]byte("{[tf"), id[0]) >= 0 {
			id = nil // JSON-RPC repeats only strings, numbers and null
		}
		if _, err := jsonrpc.DecodeMessage(m); err != nil {
			return id, jsonrpc.CodeInvalidRequest, errors.New("not a JSON-RPC message: " + err.Error())
		}
		canceled := json.RawMessage(nil)
		if string(named["method"]) == `"notifications/cancelled"` {
			var params map[string]json.RawMessage
			_ = json.Unmarshal(named["params"], &params)
			canceled = params["requestId"]
		}
		if !exact(id) || !exact(canceled) {
			return id, jsonrpc.CodeInvalidRequest, errRounded
		}
	}
	return nil, 0, nil
}

// exact reports whether an id stays the same as a float64.
func exact(id json.RawMessage) bool {
	text := string(id)
	if text == "" || text[0] != '-' && (text[0] < '0' || text[0] > '9') {
		return true // no number
	}
	const most = 1 << 53
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return -most < n && n < most
	}
	f, err := strconv.ParseFloat(text, 64)
	return err == nil && len(text) <= 15 && f == math.Trunc(f) && math.Abs(f) < most && !(f == 0 && bytes.ContainsAny(id, "123456789"))
}

// fault is the error that answers a message.
func fault(id json.RawMessage, code int64, err error) []byte {
	type wireError struct {
		Code    int64  `json:"code"`
		Message string `json:"message"`
	}
	line, _ := json.Marshal(struct {
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Error   wireError       `json:"error"`
	}{"2.0", id, wireError{code, short(err.Error(), 200)}})
	return append(line, '\n')
}

// short returns the beginning of text.
func short(text string, n int) string { return text[:min(len(text), n)] }
