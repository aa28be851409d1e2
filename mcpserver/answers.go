package mcpserver

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	// maxAnswers is how many bytes the answers over HTTP have together that their
	// clients have not taken yet, and maxAllAnswers where each of several tokens has
	// largestAnswer. Each is in memory several times over while it is sent.
	maxAnswers    = 64 << 20
	maxAllAnswers = 256 << 20

	// largestAnswer is what each owner has places for. One that is larger counts as
	// all of its owner's.
	largestAnswer = 24 << 20

	// smallAnswer is what the places of the request itself are enough for.
	smallAnswer = 32 << 10
)

// newAnswers returns the places for the bytes of a transport's answers.
func newAnswers(o *HTTPOptions) *places {
	p := &places{most: maxAnswers, share: maxAnswers, taken: map[owner]int{}}
	if among := o.partyOf(nobody); among.among > 0 {
		p.share = max(among.share(p.most), largestAnswer)
		p.most = min(p.share*max(len(o.Tokens), 2), maxAllAnswers)
	}
	return p
}

// hold takes places for n bytes of the answer to what c has brought, until that is
// served. It reports whether there are as many; on a stream there always are.
func (s *Server) hold(c *carrier, n int) bool {
	if c == nil || n <= smallAnswer {
		return true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if c.users == 0 {
		return true // nobody waits for it
	}
	leave, ok := c.answers.take(c.owner, min(n, c.answers.share))
	if ok {
		free := c.free
		c.free = func() { leave(); free() }
	}
	return ok
}

// answers bounds what answers take that their clients do not take from us.
func (s *Server) answers(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		s.heard(method, req)
		res, err := next(ctx, method, req)
		if err != nil || res == nil {
			return res, err
		}
		from, _ := s.carrier(req.GetExtra())
		n := sizeOf(res)
		if s.hold(from, n) {
			return res, nil
		}
		if call, ok := res.(*mcp.CallToolResult); ok {
			return s.shortened(call, from, n), nil
		}
		return nil, errAnswers
	}
}

var errAnswers = &jsonrpc.Error{Code: jsonrpc.CodeInternalError,
	Message: "too much waits for this client to take it; ask again once it has taken other answers"}

// shortened is the answer of a call, which has been made and cannot be made again,
// without its images, and else without its text: it says so.
func (s *Server) shortened(r *mcp.CallToolResult, from *carrier, n int) *mcp.CallToolResult {
	short := *r
	short.Content = nil
	for _, c := range r.Content {
		if i, ok := c.(*mcp.ImageContent); ok {
			c = &mcp.TextContent{Text: fmt.Sprintf("[%s of %d bytes left out: other answers wait for the client to take them]", i.MIMEType, len(i.Data))}
		}
		short.Content = append(short.Content, c)
	}
	if s.hold(from, sizeOf(&short)) {
		return &short
	}
	return &mcp.CallToolResult{IsError: true, Content: []mcp.Content{&mcp.TextContent{Text: fmt.Sprintf(
		"The call was made, and its answer of %d bytes left out: other answers wait for the client to take them.", n)}}}
}

// sizeOf is how many bytes a result has in JSON, about. readResource has places
// already for what it has read.
func sizeOf(res mcp.Result) (n int) {
	call, ok := res.(*mcp.CallToolResult)
	if !ok {
		if _, ok := res.(*mcp.ReadResourceResult); ok {
			return 0
		}
		b, _ := json.Marshal(res)
		return len(b)
	}
	for _, c := range call.Content {
		switch c := c.(type) {
		case *mcp.TextContent:
			n += quoted(c.Text)
		case *mcp.ImageContent:
			n += base64.StdEncoding.EncodedLen(len(c.Data))
		default:
			b, _ := json.Marshal(c)
			n += len(b)
		}
	}
	switch v := call.StructuredContent.(type) {
	case nil:
	case json.RawMessage:
		n += len(v)
	default:
		b, _ := json.Marshal(v)
		n += len(b)
	}
	return n
}

// quoted is how many bytes a text has as a string of JSON, as encoding/json writes it.
func quoted(text string) int {
	n := len(text)
	for i := range len(text) {
		switch b := text[i]; {
		case strings.IndexByte("\"\\\n\r\t\b\f", b) >= 0:
			n++
		case b < ' ', b == '<', b == '>', b == '&':
			n += 5
		}
	}
	return n
}
