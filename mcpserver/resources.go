package mcpserver

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/plaintext"
)

const (
	// maxLinks is how many links an answer has; the list has more.
	maxLinks = 20

	// maxResources and maxResourceBytes bound the resources of a client.
	maxResources     = 200
	maxResourceBytes = 16 << 20

	// maxAllBytes bounds the data of all clients.
	maxAllBytes = 256 << 20

	// maxLinked is the longest path in bytes that gets a link.
	maxLinked = 2 << 10

	// maxRead is the largest file that is read, into one message.
	maxRead = 8 << 20
)

// A resource is a file that a client's run has written.
type resource struct {
	client          any
	uri, name, mime string
	size            int64
	data            []byte                                       // of a run without a context
	open            func(context.Context) (io.ReadCloser, error) // of one in a context
}

// title is the name without special characters; programs choose it.
func (r *resource) title() string {
	return strings.ReplaceAll(plaintext.Clean(r.name), "\n", " ")
}

// resources are those of all clients, the oldest first.
type resources struct {
	mu    sync.Mutex
	list  []*resource
	first func() // called before the first resource is kept
}

type linksKey struct{}

// A collector gathers the resources of one call.
type collector struct {
	mu   sync.Mutex
	list []*resource
}

// middleware makes resources of the artifacts of each run. It wraps the clients, which
// check who opens files of a context.
func (rs *resources) middleware(next codeinterp.Handler) codeinterp.Handler {
	return func(ctx context.Context, call codeinterp.Call) (codeinterp.Reply, error) {
		r, err := next(ctx, call)
		c, ok := ctx.Value(linksKey{}).(*collector)
		if !ok || len(r.Result.Artifacts) == 0 {
			return r, err
		}
		var some []*resource
		for _, a := range r.Result.Artifacts[:min(len(r.Result.Artifacts), maxResources)] {
			// Without a context and data the file is gone; a name that is not UTF-8
			// cannot be opened.
			if a.Skipped != "" || len(a.Path) > maxLinked || call.Context == "" && a.Data == nil || call.Context != "" && a.Escaped {
				continue
			}
			res := &resource{name: a.Path, mime: a.MIME, size: a.Size, data: a.Data,
				uri: "toolcell://artifacts/" + rand.Text() + "/" + (&url.URL{Path: a.Path}).EscapedPath()}
			if call.Context != "" {
				res.data, res.open = nil, opener(next, ctx.Value(clientKey{}), call.Context, a.Path)
			}
			some = append(some, res)
		}
		rs.first()
		rs.keep(ctx.Value(clientKey{}), some)
		c.mu.Lock()
		defer c.mu.Unlock()
		c.list = append(c.list, some...)
		return r, err
	}
}

// opener returns a function that opens a file of a client's context.
func opener(next codeinterp.Handler, key any, id codeinterp.ContextID, name string) func(context.Context) (io.ReadCloser, error) {
	return func(ctx context.Context) (io.ReadCloser, error) {
		r, err := next(withClient(ctx, key), codeinterp.Call{Op: codeinterp.OpFiles, Context: id})
		if err != nil {
			return nil, err
		}
		dir, ok := r.Value.(codeinterp.FS)
		if !ok {
			return nil, codeinterp.ErrUnavailable
		}
		return dir.Open(name)
	}
}

// keep adds resources of a client, and drops its oldest ones, and the oldest data of all
// clients, beyond the bounds.
func (rs *resources) keep(key any, some []*resource) {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	// release was called for it, or is about to be.
	if ss, ok := key.(*session); ok && ss.over() {
		return
	}
	for _, r := range some {
		r.client = key
	}
	rs.list = append(rs.list, some...)
	count, own, all := 0, 0, 0
	for i, r := range slices.Backward(rs.list) {
		if all += len(r.data); r.client == key {
			count, own = count+1, own+len(r.data)
		}
		if r.client == key && (count > maxResources || own > maxResourceBytes) || len(r.data) > 0 && all > maxAllBytes {
			rs.list[i] = nil
		}
	}
	rs.list = slices.DeleteFunc(rs.list, func(r *resource) bool { return r == nil })
}

// release forgets a client's resources.
func (rs *resources) release(key any) {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	rs.list = slices.DeleteFunc(rs.list, func(r *resource) bool { return r.client == key })
}

// of returns a client's resources.
func (rs *resources) of(key any) (list []*resource) {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	for _, r := range rs.list {
		if r.client == key {
			list = append(list, r)
		}
	}
	return list
}

// links returns the links for a call's answer, nil for revisions before 2025-06-18.
func (c *collector) links(req *mcp.CallToolRequest, scrub func(string) string) (list []mcp.Content) {
	if p := req.Session.InitializeParams(); p != nil && p.ProtocolVersion != "" && p.ProtocolVersion < "2025-06-18" {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, r := range c.list[:min(len(c.list), maxLinks)] {
		list = append(list, &mcp.ResourceLink{URI: scrub(r.uri), Name: scrub(r.title()), MIMEType: r.mime, Size: &r.size})
	}
	return list
}

// template matches the URIs of all resources.
var template = &mcp.ResourceTemplate{Name: "artifact", URITemplate: "toolcell://artifacts/{id}/{+path}",
	Description: "A file that a run has written, as its answer names it."}

// mine returns the resources of a request's client. end ends the request.
func (s *Server) mine(ctx context.Context, ss *mcp.ServerSession, extra *mcp.RequestExtra) (_ context.Context, mine []*resource, end func(), err error) {
	ctx, end, err = s.begin(ctx, &mcp.CallToolRequest{Session: ss, Params: &mcp.CallToolParamsRaw{}, Extra: extra})
	if err == nil {
		mine = s.resources.of(ctx.Value(clientKey{}))
	}
	return ctx, mine, end, err
}

// listResources adds the client's resources to the list. They are not listed for clients
// that share an identity, which can read those whose URI they know.
func (s *Server) listResources(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		r, err := next(ctx, method, req)
		list, ok := r.(*mcp.ListResourcesResult)
		if !ok || err != nil {
			return r, err
		}
		ss, _ := req.GetSession().(*mcp.ServerSession)
		ctx, mine, end, err := s.mine(ctx, ss, req.GetExtra())
		if err != nil {
			return nil, err
		}
		defer end()
		if ctx.Value(clientKey{}) == anyone {
			return list, nil
		}
		for _, r := range mine {
			list.Resources = append(list.Resources, &mcp.Resource{URI: s.scrub(r.uri), Name: s.scrub(r.title()), MIMEType: r.mime, Size: r.size})
		}
		return list, nil
	}
}

func (s *Server) readResource(ctx context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
	uri := req.Params.URI
	ctx, mine, end, err := s.mine(ctx, req.Session, req.Extra)
	if err != nil {
		return nil, err
	}
	defer end()
	// The client knows the scrubbed URI.
	i := slices.IndexFunc(mine, func(r *resource) bool { return s.scrub(r.uri) == uri })
	if i < 0 {
		return nil, mcp.ResourceNotFoundError(uri)
	}
	data, err := mine[i].content(ctx)
	switch {
	case errors.Is(err, codeinterp.ErrContext):
		return nil, mcp.ResourceNotFoundError(uri)
	case err != nil:
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: s.scrub(err.Error())}
	}
	c := &mcp.ResourceContents{URI: uri, MIMEType: mine[i].mime}
	if len(data) > 0 && utf8.Valid(data) && bytes.IndexByte(data, 0) < 0 {
		c.Text = s.scrub(string(data))
	} else {
		c.Blob = append([]byte{}, data...)
	}
	return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{c}}, nil
}

// content returns the content of the file.
func (r *resource) content(ctx context.Context) ([]byte, error) {
	if r.open == nil {
		return r.data, nil
	}
	f, err := r.open(ctx)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	defer context.AfterFunc(ctx, func() { f.Close() })() // ends a read that hangs
	data, err := io.ReadAll(io.LimitReader(f, maxRead+1))
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if err == nil && len(data) > maxRead {
		err = fmt.Errorf("%w: more than %d bytes", codeinterp.ErrTooLarge, maxRead)
	}
	return data, err
}
