package mcpserver

import (
	"encoding/json"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	notifyCancelled   = "notifications/cancelled"
	notifyInitialized = "notifications/initialized"

	// maxNote is the longest notification that is heeded, in bytes.
	maxNote = 4 << 10

	// maxNotes is how many notifications of a session wait to be heeded: it heeds them
	// one after the other, and each was answered when it came.
	maxNotes = 1000
)

// A content is what an HTTP request brings.
type content struct {
	body  []byte // without the notifications that nobody heeds; nil where it is empty then
	calls int
	notes int // the notifications that are left
}

// contentOf reads a request's body. The SDK keeps notifications until their session
// comes to them, with all that they say, though nobody reads it.
func contentOf(body []byte) content {
	c := content{body: body}
	messages, batch := messagesOf(body)
	var left []json.RawMessage
	changed := false
	for _, m := range messages {
		msg, err := jsonrpc.DecodeMessage(m)
		req, ok := msg.(*jsonrpc.Request)
		if err != nil || !ok || req.ID.IsValid() {
			if left = append(left, m); ok && err == nil {
				c.calls++
			}
			continue
		}
		changed = true
		if note := heeded(req, len(m)); note != nil {
			left = append(left, note)
			c.notes++
		}
	}
	switch {
	case !changed:
	case len(left) == 0:
		c.body = nil
	case batch:
		c.body, _ = json.Marshal(left)
	default:
		c.body = left[0]
	}
	return c
}

// heeded is what a notification says that somebody heeds, nil where nobody does.
func heeded(n *jsonrpc.Request, size int) json.RawMessage {
	note := struct {
		Version string         `json:"jsonrpc"`
		Method  string         `json:"method"`
		Params  map[string]any `json:"params,omitempty"`
	}{Version: "2.0", Method: n.Method}
	switch {
	case size > maxNote:
		return nil
	case n.Method == notifyInitialized:
	case n.Method == notifyCancelled:
		var id any
		if json.Unmarshal(membersOf(n.Params)["requestId"], &id) != nil {
			return nil
		}
		if _, err := jsonrpc.MakeID(id); err != nil || id == nil {
			return nil
		}
		note.Params = map[string]any{"requestId": id}
	default:
		return nil
	}
	b, _ := json.Marshal(note)
	return b
}

// named returns the owner's session of that id, nil where there is none.
func (s *Server) named(id string, of owner) *session {
	s.mu.Lock()
	defer s.mu.Unlock()
	for ss, known := range s.known {
		if id != "" && ss.ID() == id && known.owner == of {
			return known
		}
	}
	return nil
}

// heard notes that a session has come to a notification.
func (s *Server) heard(method string, req mcp.Request) {
	if method != notifyCancelled && method != notifyInitialized {
		return
	}
	ss, ok := req.GetSession().(*mcp.ServerSession)
	if !ok {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if known := s.known[ss]; known != nil && known.notes > 0 {
		known.notes--
	}
}

// bring notes that a session, nil for none, is to come to n notifications more, and
// reports whether it may.
func (s *Server) bring(known *session, n int) bool {
	if known == nil {
		return true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if known.notes+n > maxNotes {
		return false
	}
	known.notes = max(known.notes+n, 0)
	return true
}
