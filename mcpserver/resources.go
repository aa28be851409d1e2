package mcpserver

import (
	"cmp"
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
	"github.com/toolcell/toolcell/tools"
)

const (
	// maxLinks is how many links an answer has; the list has more.
	maxLinks = 20

	// maxResources and maxResourceBytes bound what is kept for a client. What is
	// oldest goes first.
	maxResources     = 200
	maxResourceBytes = 16 << 20

	// maxKeptBytes bounds what is kept for all clients, of which each party has its
	// share: one may have a hundred sessions.
	maxKeptBytes = 256 << 20

	// maxLinked is how many bytes the path of a file has that gets a link.
	maxLinked = 2 << 10

	// maxRead is the largest file that is read: it is a message.
	maxRead = 8 << 20
)

// A resource is a file that a client's run has written.
type resource struct {
	uri, name, mime string
	size            int64
	data            []byte                                       // of a run without a context
	open            func(context.Context) (io.ReadCloser, error) // of one in a context
}

// title is the name as it is shown: programs choose what is in it.
func (r *resource) title() string {
	return strings.ReplaceAll(tools.CleanText(r.name), "\n", " ")
}

// A shelf has a client's resources, the oldest first.
type shelf struct {
	party party
	list  []*resource
	bytes int64
	turn  int64 // when it last got some, in calls of keep
}

// drop forgets the resource at i, and returns how many bytes it had.
func (s *shelf) drop(i int) (bytes int64) {
	bytes = int64(len(s.list[i].data))
	s.bytes -= bytes
	s.list = slices.Delete(s.list, i, i+1)
	return bytes
}

// heavy is the oldest that has bytes.
func (s *shelf) heavy() int {
	return slices.IndexFunc(s.list, func(r *resource) bool { return len(r.data) > 0 })
}

// resources are those of all clients.
type resources struct {
	mu    sync.Mutex
	byKey map[any]*shelf
	turn  int64
}

func newResources() *resources { return &resources{byKey: map[any]*shelf{}} }

type linksKey struct{}

// A collector gathers the resources of one call.
type collector struct {
	mu   sync.Mutex
	list []*resource
}

// middleware makes resources of the artifacts of each run. It stands outside of
// the clients, so that a context's files are opened as its client's.
func (rs *resources) middleware(next codeinterp.Handler) codeinterp.Handler {
	return func(ctx context.Context, call codeinterp.Call) (codeinterp.Reply, error) {
		r, err := next(ctx, call)
		c, ok := ctx.Value(linksKey{}).(*collector)
		if !ok || len(r.Result.Artifacts) == 0 {
			return r, err
		}
		var some []*resource
		for _, a := range r.Result.Artifacts[:min(len(r.Result.Artifacts), maxResources)] {
			// Without a context and without data the file went with its run; a name that
			// is not UTF-8 opens none. A very long one makes a link that no client takes.
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
		of, _ := ctx.Value(partyKey{}).(party)
		rs.keep(ctx.Value(clientKey{}), of, some)
		c.mu.Lock()
		defer c.mu.Unlock()
		c.list = append(c.list, some...)
		return r, err
	}
}

// opener opens a file of a client's context, as it is by then.
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

// keep adds what a client of a party's has to its shelf.
func (rs *resources) keep(key any, of party, some []*resource) {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	// Its watch has released it, or is about to, and comes but once.
	if ss, ok := key.(*session); ok && ss.over() {
		return
	}
	s := rs.byKey[key]
	if s == nil {
		s = &shelf{party: of}
		rs.byKey[key] = s
	}
	rs.turn++
	s.turn = rs.turn
	for _, r := range some {
		s.bytes += int64(len(r.data))
		s.list = append(s.list, r)
	}
	for len(s.list) > maxResources || s.bytes > maxResourceBytes {
		s.drop(0)
	}
	if of.among > 0 {
		rs.shrink(int64(of.share(maxKeptBytes)), func(s *shelf) bool { return s.party == of })
	}
	rs.shrink(maxKeptBytes, func(*shelf) bool { return true })
}

// shrink has some of the shelves hold no more than most together: what is oldest
// on the largest goes first, and of shelves as large as it on the one that has
// waited longest: a client that has just been given links finds what they name.
// rs.mu is held.
func (rs *resources) shrink(most int64, some func(*shelf) bool) {
	var sum int64
	var list []*shelf
	for _, s := range rs.byKey {
		if some(s) && s.bytes > 0 {
			sum, list = sum+s.bytes, append(list, s)
		}
	}
	for sum > most {
		s := slices.MaxFunc(list, func(a, b *shelf) int {
			return cmp.Or(cmp.Compare(a.bytes, b.bytes), cmp.Compare(b.turn, a.turn))
		})
		sum -= s.drop(s.heavy())
	}
}

// release forgets a client's.
func (rs *resources) release(key any) {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	delete(rs.byKey, key)
}

// of returns a client's resources.
func (rs *resources) of(key any) []*resource {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	if s := rs.byKey[key]; s != nil {
		return slices.Clone(s.list)
	}
	return nil
}

// links are what a call's answer says of its resources. Clients of before
// 2025-06-18 know none.
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

// template is what all resources' URIs are like.
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

// listResources adds the client's resources to the list. Those of clients whom
// nothing tells apart are not listed; who knows a URI may read it.
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
		if ctx.Value(clientKey{}) == nobody {
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
	// Scrubbed is how the client was told of it.
	i := slices.IndexFunc(mine, func(r *resource) bool { return s.scrub(r.uri) == uri })
	if i < 0 {
		return nil, mcp.ResourceNotFoundError(uri)
	}
	from, _ := s.carrier(req.Extra)
	data, err := mine[i].content(ctx, func(n int) bool { return s.hold(from, n) })
	switch {
	case err == errAnswers:
		return nil, err
	case errors.Is(err, codeinterp.ErrContext):
		return nil, mcp.ResourceNotFoundError(uri)
	case err != nil:
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: s.scrub(err.Error())}
	}
	c := &mcp.ResourceContents{URI: uri, MIMEType: mine[i].mime}
	// What would be far longer as a string is no text that anybody reads.
	if len(data) > 0 && utf8.Valid(data) && quoted(string(data)) <= escaped*len(data) {
		c.Text = s.scrub(string(data))
	} else {
		c.Blob = append([]byte{}, data...)
	}
	return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{c}}, nil
}

// escaped is how many times as long a file may be in an answer.
const escaped = 2

// A held is read until ctx ends, since there may be little in each piece of a file, and
// takes places for what it reads.
type held struct {
	ctx        context.Context
	r          io.Reader
	hold       func(int) bool
	room, read int
}

func (h *held) Read(p []byte) (int, error) {
	if h.ctx.Err() != nil {
		return 0, context.Cause(h.ctx)
	}
	n, err := h.r.Read(p)
	if h.read += n; h.read > h.room {
		more := max(h.read-h.room, smallAnswer)
		if h.room += more; !h.hold(escaped * more) {
			return 0, errAnswers
		}
	}
	return n, err
}

// content returns what is in the file, for which hold takes places.
func (r *resource) content(ctx context.Context, hold func(int) bool) ([]byte, error) {
	if r.open == nil && !hold(escaped*len(r.data)) {
		return nil, errAnswers
	}
	if r.open == nil {
		return r.data, nil
	}
	f, err := r.open(ctx)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	// A byte more, to tell a file of just that size from one that was cut.
	data, err := io.ReadAll(io.LimitReader(&held{ctx: ctx, r: f, hold: hold}, maxRead+1))
	if err == nil && len(data) > maxRead {
		err = fmt.Errorf("%w: more than %d bytes", codeinterp.ErrTooLarge, maxRead)
	}
	return data, err
}
