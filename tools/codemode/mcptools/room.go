package mcptools

import (
	"context"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/toolcell/toolcell/internal/jsontally"
	rooms "github.com/toolcell/toolcell/internal/room"
)

const (
	// maxMembers is how many members the objects and lists of an answer may have:
	// one takes a hundred times as much once it is decoded.
	maxMembers = 500_000

	// maxRoom is about how many bytes of memory decoded answers take at a time.
	maxRoom = 128 << 20
)

// decoded is about how many bytes an answer takes once it is decoded.
func decoded(size, members int) int { return 3*size + 100*members }

// A room bounds what the answers of all servers of a set take that are being
// decoded.
type room = rooms.Room

// A caller is a call whose answer takes room.
type caller struct {
	room *room
	done chan struct{} // closed when the answer is not wanted any more, or was taken
	pace pace          // of the streams in which it comes

	mu    sync.Mutex
	taken int
	over  bool
	fault error // of the answer
}

type callerKey struct{}

// admit waits for room for an answer of n bytes, and reports whether the call goes
// on.
func (c *caller) admit(n int, closed <-chan struct{}) bool {
	if !c.room.Take(n, maxRoom, c.done, closed) {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	// The call ended while it waited, and gives back only what it had by then.
	if c.over {
		c.room.Free(n)
		return false
	}
	c.taken += n
	return true
}

// end gives the room back.
func (c *caller) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.over {
		c.over = true
		close(c.done)
		c.room.Free(c.taken)
	}
}

// refuse notes what is wrong with the answer.
func (c *caller) refuse(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.fault = err
}

func (c *caller) refused() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.fault
}

// expect notes who waits for the answer to a request.
func (c *patientConn) expect(ctx context.Context, id jsonrpc.ID) {
	if by, ok := ctx.Value(callerKey{}).(*caller); ok {
		c.callers.Store(id, by)
		context.AfterFunc(ctx, func() { c.callers.Delete(id) })
	}
	if by, ok := ctx.Value(listerKey{}).(*lister); ok {
		c.listers.Store(id, by)
		context.AfterFunc(ctx, func() { c.listers.Delete(id) })
	}
}

// fit makes an answer one that can be decoded, and waits for room for that.
func (c *patientConn) fit(r *jsonrpc.Response) {
	n := jsontally.Members(r.Result)
	if n > maxMembers {
		r.Result, r.Error = nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: errMembers.Error()}
		return
	}
	if by, ok := c.listers.LoadAndDelete(r.ID); ok {
		r.Result = by.(*lister).sound(r.Result)
	}
	if by, ok := c.callers.LoadAndDelete(r.ID); ok && !by.(*caller).admit(decoded(len(r.Result), n), c.closed) {
		r.Result, r.Error = nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: errUnwanted.Error()}
	}
}
