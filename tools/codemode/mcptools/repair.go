package mcptools

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/ansi"
)

// maxNested is how deep the SDK reads JSON: it ends the session beyond.
const maxNested = 900

// A repairer turns what a server sends into messages that the SDK reads. Otherwise one
// malformed message would end the session, and with it all calls in progress.
type repairer struct {
	note func(line []byte) // records what is no message
}

// messages returns the messages in text, each on one line. An answer without an id is
// one to pending, the id of the request that text came for, if there is one.
func (r *repairer) messages(text []byte, pending json.RawMessage) (list [][]byte) {
	text = bytes.TrimSpace(text)
	switch {
	case len(text) == 0:
	case text[0] != '{' && text[0] != '[':
		r.note(text)
	case codeinterp.DeeperThan(text, maxNested):
		return r.broken(text, pending, fmt.Sprintf("the server's answer is nested deeper than %d levels", maxNested))
	case !json.Valid(text):
		return r.broken(text, pending, "the server's answer is not valid JSON")
	case text[0] == '[':
		var batch []json.RawMessage
		_ = json.Unmarshal(text, &batch) // it is valid
		for _, one := range batch {
			list = r.add(list, one, pending)
		}
	default:
		list = r.add(list, text, pending)
	}
	return list
}

// broken answers the call whose answer cannot be read.
func (r *repairer) broken(text []byte, pending json.RawMessage, why string) [][]byte {
	id := answered(idIn(text), pending)
	if id == nil {
		r.note(text)
		return nil
	}
	return [][]byte{failed(id, why+". The call may or may not have been done.")}
}

func (r *repairer) add(list [][]byte, text []byte, pending json.RawMessage) [][]byte {
	m := membersOf(text)
	if method, ok := m["method"]; ok && m != nil {
		id := m["id"]
		if !isString(method) || len(id) > 0 && (id[0] == '{' || id[0] == '[' || id[0] == 't' || id[0] == 'f') {
			r.note(text)
			return list
		}
		m["jsonrpc"] = json.RawMessage(`"2.0"`)
		return append(list, marshal(m))
	}
	id := answered(m["id"], pending)
	switch fault, result := m["error"], m["result"]; {
	case id == nil || m == nil || fault == nil && result == nil && m["jsonrpc"] == nil:
		r.note(text)
	case pending != nil && !bytes.Equal(id, pending):
		list = append(list, failed(pending, "the server has answered another request. The call may or may not have been done."))
	case fault != nil && string(fault) != "null":
		list = append(list, marshal(map[string]json.RawMessage{"jsonrpc": json.RawMessage(`"2.0"`), "id": id, "error": faultOf(fault)}))
	case result == nil:
		list = append(list, failed(id, "the server's answer has neither a result nor an error. The call may or may not have been done."))
	default:
		list = append(list, marshal(map[string]json.RawMessage{"jsonrpc": json.RawMessage(`"2.0"`), "id": id, "result": r.result(result)}))
	}
	return list
}

// result returns a result that the SDK can decode.
func (r *repairer) result(raw json.RawMessage) json.RawMessage {
	m := membersOf(raw)
	switch {
	case m == nil: // as null, a list or text
		return marshal(map[string]any{"content": []any{textOf(raw)}})
	case m["tools"] != nil:
		return r.list(m, raw)
	case m["content"] == nil && m["isError"] == nil:
		return raw
	}
	if decodes(raw, new(mcp.CallToolResult)) {
		return raw
	}
	m["content"] = contentOf(m["content"])
	if e := string(m["isError"]); e != "" && e != "true" && e != "false" {
		m["isError"] = json.RawMessage(strconv.FormatBool(e == `"true"` || e == "1"))
	}
	fixed := marshal(m)
	if !decodes(fixed, new(mcp.CallToolResult)) {
		return marshal(map[string]any{"content": []any{textOf(raw)}, "isError": string(m["isError"]) == "true"})
	}
	return fixed
}

// list leaves out of a list of tools what is no tool.
func (r *repairer) list(m map[string]json.RawMessage, raw json.RawMessage) json.RawMessage {
	var all, sound []json.RawMessage
	if json.Unmarshal(m["tools"], &all) != nil {
		return raw
	}
	for _, one := range all {
		if string(one) != "null" && decodes(one, new(mcp.Tool)) {
			sound = append(sound, one)
		} else {
			r.note(append([]byte("a malformed tool: "), one...))
		}
	}
	if len(sound) == len(all) {
		return raw
	}
	m["tools"] = marshal(sound)
	return marshal(m)
}

// contentOf returns a list of content in which what the SDK cannot decode is text.
func contentOf(raw json.RawMessage) json.RawMessage {
	var all []json.RawMessage
	if json.Unmarshal(raw, &all) != nil {
		all = []json.RawMessage{raw}
	}
	list := make([]any, 0, len(all))
	for _, one := range all {
		if string(one) == "null" || len(one) == 0 {
			continue
		}
		if decodes(marshal(map[string]any{"content": []json.RawMessage{one}}), new(mcp.CallToolResult)) {
			list = append(list, one)
		} else {
			list = append(list, textOf(one))
		}
	}
	return marshal(list)
}

// textOf represents any JSON as text content.
func textOf(raw json.RawMessage) map[string]string {
	var text string
	if json.Unmarshal(raw, &text) != nil {
		text = string(raw)
	}
	return map[string]string{"type": "text", "text": text}
}

// decodes reports whether the SDK can read raw as v.
func decodes(raw json.RawMessage, v any) bool { return json.Unmarshal(raw, v) == nil }

// faultOf returns the error of an answer in the form that JSON-RPC wants.
func faultOf(raw json.RawMessage) json.RawMessage {
	var e jsonrpc.Error
	if json.Unmarshal(raw, &e) == nil && e.Message != "" {
		return marshal(map[string]any{"code": e.Code, "message": e.Message})
	}
	message := textOf(membersOf(raw)["message"])["text"]
	if message == "" {
		message = textOf(raw)["text"]
	}
	return marshal(map[string]any{"code": jsonrpc.CodeInternalError, "message": message})
}

// failed is the error that answers a call in place of the server.
func failed(id json.RawMessage, why string) []byte {
	return marshal(map[string]any{"jsonrpc": "2.0", "id": id, "error": map[string]any{"code": malformed, "message": why}})
}

// malformed is the code of errors that answer in place of the server.
const malformed = jsonrpc.CodeInternalError

// answered returns which request an id is of: ours are whole numbers, which some servers
// send back as strings. It is nil if there is none.
func answered(id, pending json.RawMessage) json.RawMessage {
	if len(id) == 0 || string(id) == "null" {
		return pending
	}
	var text string
	if json.Unmarshal(id, &text) != nil {
		text = string(id)
	}
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || n != math.Trunc(n) || n < 0 || n > 1<<53 {
		return pending
	}
	return json.RawMessage(strconv.FormatInt(int64(n), 10))
}

var (
	idMember = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^"id"\s*:\s*("[^"\\]*"|-?[0-9]+)`) })
	lastID   = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`"id"\s*:\s*("[^"\\]*"|-?[0-9]+)\s*(,\s*"jsonrpc"\s*:\s*"2.0"\s*)?\}?\s*$`)
	})
)

// idIn finds the id of a message that is not valid JSON, or was cut in the middle.
func idIn(text []byte) json.RawMessage {
	depth, inString := 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case inString && c == '\\':
			i++
		case c == '"' && !inString && depth == 1:
			if found := idMember().FindSubmatch(text[i:min(len(text), i+200)]); found != nil {
				return found[1]
			}
			inString = true
		case c == '"':
			inString = !inString
		case inString:
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			depth--
		}
	}
	if found := lastID().FindSubmatch(text[max(0, len(text)-200):]); found != nil {
		return found[1]
	}
	return nil
}

// membersOf returns the members of an object by their exact names, nil for other JSON.
func membersOf(raw json.RawMessage) (m map[string]json.RawMessage) {
	_ = json.Unmarshal(raw, &m)
	return m
}

func isString(raw json.RawMessage) bool { return len(raw) > 0 && raw[0] == '"' }

// marshal renders what always can be: raw JSON, texts and numbers.
func marshal(v any) json.RawMessage {
	raw, err := json.Marshal(v)
	if err != nil {
		return json.RawMessage("null")
	}
	return raw
}

// strayLines are lines of a server's output that are no messages.
type strayLines struct {
	mu    sync.Mutex
	count int
	first string
}

func (s *strayLines) add(line []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.count++; s.count == 1 {
		s.first = clip(ansi.Plain(string(line[:min(len(line), 400)])), 100)
	}
}

// problem reports the lines, nil if there are none.
func (s *strayLines) problem() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.count == 0 {
		return nil
	}
	return fmt.Errorf("%d lines of its output are no messages and were left out, the first of them %q", s.count, s.first)
}
