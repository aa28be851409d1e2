package mcptools

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// A sender is a connection on which a server sends what it was not asked for.
type sender struct {
	mcp.Connection
	messages []jsonrpc.Message
}

func (s *sender) Read(context.Context) (jsonrpc.Message, error) {
	if len(s.messages) == 0 {
		return nil, io.EOF
	}
	m := s.messages[0]
	s.messages = s.messages[1:]
	return m, nil
}

// TestUnasked: what a server sends by itself is dropped, or cut, before it is decoded.
func TestUnasked(t *testing.T) {
	id := func(v any) jsonrpc.ID {
		id, err := jsonrpc.MakeID(v)
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	large := json.RawMessage(`{"_meta":{"a":[` + strings.Repeat("{},", maxUnasked) + `{}]}}`)
	small := json.RawMessage(`{"_meta":{}}`)
	c := &patientConn{Connection: &sender{messages: []jsonrpc.Message{
		&jsonrpc.Request{Method: "notifications/message", Params: small},
		&jsonrpc.Request{Method: "notifications/progress", Params: large},
		&jsonrpc.Request{Method: toolsChanged, Params: large},
		&jsonrpc.Request{Method: "ping", ID: id("a"), Params: large},
		&jsonrpc.Request{Method: "ping", ID: id("b"), Params: small},
		&jsonrpc.Request{Method: "ping", ID: id(strings.Repeat("x", maxID+1))},
	}}}
	for _, want := range []struct {
		method string
		params json.RawMessage
	}{{toolsChanged, nil}, {"ping", nil}, {"ping", small}} {
		m, err := c.Read(t.Context())
		if r, ok := m.(*jsonrpc.Request); err != nil || !ok || r.Method != want.method || string(r.Params) != string(want.params) {
			t.Errorf("%+v, %v; want %s", m, err, want.method)
		}
	}
	if m, err := c.Read(t.Context()); !errors.Is(err, errID) {
		t.Errorf("a long id: %v, %v", m, err)
	}
}
