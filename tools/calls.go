package tools

import (
	"container/list"
	"context"
	"crypto/sha256"
	"errors"
	"slices"
	"sync"

	"github.com/toolcell/toolcell/codeinterp"
)

// calls remembers answers by call, so that a call that is sent again does not
// run again.
type calls struct {
	mu       sync.Mutex
	byKey    map[callKey]*list.Element
	order    list.List // of *called, oldest first; only those that are done
	maxCalls int
	maxBytes int
	bytes    int
}

// callKey identifies a call. Ids are not enough: some servers count them from
// zero in every turn, and so do those of several clients.
type callKey struct {
	client   any
	id, tool string
	args     [sha256.Size]byte
}

type called struct {
	key   callKey
	done  chan struct{}
	reply *Answer // set when done
	size  int
}

// small is what an answer without Result and images may take.
const small = 128 << 10

func newCalls(o *SetOptions) *calls {
	c := &calls{byKey: map[callKey]*list.Element{}, maxCalls: o.RememberCalls, maxBytes: o.RememberBytes}
	if c.maxCalls == 0 {
		c.maxCalls = 1024
	}
	if c.maxBytes == 0 {
		c.maxBytes = 64 << 20
	}
	if c.maxCalls < 0 {
		return nil
	}
	return c
}

// serve answers the call from memory, waits for the same call in progress, or
// runs it. Where that call turns out not to be remembered, the next of those
// that wait runs.
func (m *calls) serve(ctx context.Context, t *Tool, c Invocation) *Answer {
	key := callKey{Client(ctx), c.ID, t.Name, sha256.Sum256(c.Args)}
	for {
		m.mu.Lock()
		e, ok := m.byKey[key]
		if !ok {
			// Not in order until it is done: what bounds the memory never drops a
			// call in progress.
			e = &list.Element{Value: &called{key: key, done: make(chan struct{})}}
			m.byKey[key] = e
			m.mu.Unlock()
			return m.first(ctx, t, c, e.Value.(*called))
		}
		m.mu.Unlock()
		first := e.Value.(*called)
		select {
		case <-first.done:
		case <-ctx.Done():
		}
		m.mu.Lock()
		// Under mu, since slim puts a smaller answer in its place.
		r := first.reply
		m.mu.Unlock()
		switch {
		case r != nil:
			return r
		case ctx.Err() != nil:
			return fail(c.ID, t.Name, &Failure{CodeCanceled, "canceled while the same call was in progress"}, context.Cause(ctx))
		}
	}
}

// first runs the call.
func (m *calls) first(ctx context.Context, t *Tool, c Invocation, e *called) *Answer {
	var r *Answer
	// Also where the tool ends its goroutine: nobody is to wait for it for ever.
	defer func() { m.settle(ctx, e, r) }()
	r = serve(ctx, t, c)
	return r
}

// settle remembers the answer to a call, nil where there is none.
func (m *calls) settle(ctx context.Context, e *called, r *Answer) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if r != nil && ran(r) && !abandoned(ctx, r) {
		e.reply, e.size = r, sizeOf(r)
		m.bytes += e.size
		m.byKey[e.key] = m.order.PushBack(e)
		m.trim()
	} else {
		delete(m.byKey, e.key)
	}
	close(e.done)
}

// ran reports whether the call did something that must not be done twice. A
// failed call did, unless its code says that nothing happened: it is not known
// how far it came.
func ran(r *Answer) bool {
	if r.Failure == nil {
		return true
	}
	return r.Failure.Code == CodeInternal || r.Failure.Code == CodeFailed
}

// abandoned reports whether the call was ended because nobody waited for it any
// more, as when a connection is lost. Its outcome is no answer to the same call
// of somebody who does.
func abandoned(ctx context.Context, r *Answer) bool {
	if ctx.Err() == nil {
		return false
	}
	return errors.Is(r.Err, context.Cause(ctx)) || errors.Is(r.Err, ctx.Err()) ||
		r.Result != nil && r.Result.Status == codeinterp.StatusCanceled
}

// trim keeps to the bounds.
func (m *calls) trim() {
	for m.order.Len() > m.maxCalls {
		m.drop(m.order.Front())
	}
	for e := m.order.Front(); e != nil && m.bytes > m.maxBytes; e = e.Next() {
		m.slim(e.Value.(*called))
	}
	// The newest stays, however large: it is the likeliest to be asked for again.
	for m.bytes > m.maxBytes && m.order.Len() > 1 {
		m.drop(m.order.Front())
	}
}

func (m *calls) drop(e *list.Element) {
	d := m.order.Remove(e).(*called)
	m.bytes -= d.size
	delete(m.byKey, d.key)
}

// slim drops an answer's Result and images.
func (m *calls) slim(d *called) {
	if d.reply.Result == nil || d.size <= small {
		return
	}
	r := *d.reply
	ended := *r.Result
	ended.Outputs, ended.Error, ended.CallbackErr = nil, nil, nil
	ended.Artifacts = withoutData(r.Result.Artifacts)
	// Copied: the answer was given out, and is not to change.
	ended.Truncated = append(ended.Truncated[:len(ended.Truncated):len(ended.Truncated)], forgotten(r.Result)...)
	// The view would hold on to all of the Result.
	r.Data, r.view = r.JSON(), nil
	r.Result, r.Images = &ended, nil
	m.bytes -= d.size
	d.reply, d.size = &r, sizeOf(&r)
	m.bytes += d.size
}

// forgotten tells what a Result without its outputs lacks.
func forgotten(res *codeinterp.Result) []codeinterp.Truncation {
	var total [codeinterp.Clear + 1]int64
	for i := range res.Outputs {
		total[res.Outputs[i].Kind] += int64(res.Outputs[i].Size())
	}
	var list []codeinterp.Truncation
	for k, n := range total {
		if n > 0 {
			list = append(list, codeinterp.Truncation{Stream: codeinterp.Kind(k).String(), Bytes: n, Reason: codeinterp.TruncatedByLimit})
		}
	}
	var files int64
	for i := range res.Artifacts {
		files += int64(len(res.Artifacts[i].Data))
	}
	if files > 0 {
		list = append(list, codeinterp.Truncation{Stream: artifacts, Bytes: files, Reason: codeinterp.TruncatedByLimit})
	}
	return list
}

// withoutData returns a list of files without what is in them.
func withoutData(list []codeinterp.Artifact) []codeinterp.Artifact {
	list = slices.Clone(list)
	for i := range list {
		list[i].Data = nil
	}
	return list
}

// sizeOf estimates the memory that an answer holds.
func sizeOf(r *Answer) int {
	n := 1<<10 + len(r.Text) + len(r.Data)
	for _, img := range r.Images {
		n += len(img.Data)
	}
	if r.view != nil {
		n += len(r.view.arena)
	}
	if r.Result != nil {
		n += resultSize(r.Result)
	}
	return n
}

func resultSize(res *codeinterp.Result) (n int) {
	for i := range res.Outputs {
		o := &res.Outputs[i]
		n += 256 + o.Size() + len(o.DisplayID)
		for _, rep := range o.Bundle {
			n += 64 + len(rep.MIME)
		}
	}
	if e := res.Error; e != nil {
		n += len(e.Name) + len(e.Message)
		for _, list := range [][]string{e.Traceback, e.RawTraceback} {
			for _, s := range list {
				n += 16 + len(s)
			}
		}
	}
	for i := range res.Artifacts {
		a := &res.Artifacts[i]
		n += 256 + len(a.Path) + len(a.Data)
	}
	for i := range res.Calls {
		c := &res.Calls[i]
		n += 256 + len(c.Name) + len(c.Args) + len(c.Result) + len(c.Error)
	}
	return n
}
