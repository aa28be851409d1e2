package fakejupyter

import (
	"encoding/binary"
	"encoding/json"

	"github.com/gorilla/websocket"
)

// A Message is one message of a kernel's channels.
type Message struct {
	Channel string          `json:"channel"`
	Header  Header          `json:"header"`
	Parent  Header          `json:"parent_header"`
	Content json.RawMessage `json:"content"`
}

// A Header names a message.
type Header struct {
	ID      string `json:"msg_id,omitempty"`
	Type    string `json:"msg_type,omitempty"`
	Session string `json:"session,omitempty"`
}

// Code is the code of an execute_request.
func (m *Message) Code() string { return m.content().Code }

// content is what is read of requests: silent is an execute_request of the client's own,
// value that of an input_reply.
func (m *Message) content() (c struct {
	Code, Value string
	Silent      bool
}) {
	_ = json.Unmarshal(m.Content, &c)
	return c
}

// Contents of messages.
func Status(state string) any { return map[string]string{"execution_state": state} }

// Stream is the content of a stream message.
func Stream(name, text string) any {
	return struct {
		Name string `json:"name"`
		Text string `json:"text"`
	}{name, text}
}

// OK is the content of an execute_reply of a program that ended normally.
func OK(count int) any {
	return map[string]any{"status": "ok", "execution_count": count, "payload": []any{}, "user_expressions": map[string]any{}}
}

// Error is the content of an error and of an execute_reply for it.
func Error(name, value string, traceback ...string) any {
	return map[string]any{"status": "error", "ename": name, "evalue": value, "traceback": traceback, "execution_count": 1}
}

// Data is the content of a display or a result.
func Data(count int, mime, data, displayID string) any {
	return map[string]any{"data": map[string]string{mime: data}, "metadata": map[string]any{},
		"execution_count": count, "transient": map[string]string{"display_id": displayID}}
}

// frame encodes a message for the wire.
func (m *Message) frame(v1 bool) (typ int, data []byte) {
	if !v1 {
		data, _ = json.Marshal(m)
		return websocket.TextMessage, data
	}
	header, _ := json.Marshal(m.Header)
	parent, _ := json.Marshal(m.Parent)
	content := spaced(m.Content)
	parts := [][]byte{[]byte(m.Channel), header, parent, []byte("{}"), content}
	n := len(parts) + 1
	data = make([]byte, 8*(1+n))
	binary.LittleEndian.PutUint64(data, uint64(n))
	for i := 0; ; i++ {
		binary.LittleEndian.PutUint64(data[8*(1+i):], uint64(len(data)))
		if i == len(parts) {
			return websocket.BinaryMessage, data
		}
		data = append(data, parts[i]...)
	}
}

// spaced writes a stream's content as Python does, with blanks.
func spaced(content json.RawMessage) []byte {
	var s struct{ Name, Text *string }
	if json.Unmarshal(content, &s) != nil || s.Name == nil || s.Text == nil {
		return content
	}
	name, _ := json.Marshal(s.Name)
	text, _ := json.Marshal(s.Text)
	return []byte(`{"name": ` + string(name) + `, "text": ` + string(text) + `}`)
}

// parse decodes a client's message.
func parse(typ int, data []byte) (*Message, bool) {
	m := &Message{}
	if typ == websocket.TextMessage {
		return m, json.Unmarshal(data, m) == nil
	}
	at := func(i int) uint64 { return binary.LittleEndian.Uint64(data[8*(1+i):]) }
	part := func(i int) []byte { return data[at(i):at(i+1)] }
	m.Channel, m.Content = string(part(0)), part(4)
	return m, json.Unmarshal(part(1), &m.Header) == nil
}
