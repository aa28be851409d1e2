package kernel

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"sync"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/providers/jupyter/internal/wire"
)

// A tail is output that a kernel sends after it said that the run is over. It
// has the parent of the request that came next, which prints a marker: what
// comes before that is the run's.
type tail struct {
	id     string // of the request that prints the marker
	marker []byte
	done   chan struct{}
	once   sync.Once
}

// settle waits for the tail of a run. If its end does not come, that is reported as a
// loss.
func (r *runner) settle() {
	d := r.k.dialect
	if d.settle == nil || r.killed || r.e.progress().death || !r.k.process().isSetUp() || !r.k.connected() {
		return
	}
	ctx, cancel := context.WithTimeout(r.ctx, halfGrace)
	defer cancel()
	t := &tail{marker: []byte("<toolcell " + rand.Text() + ">"), done: make(chan struct{})}
	k := r.k
	k.mu.Lock()
	t.id = k.newID("h")
	k.tail = t
	s := k.sock
	k.mu.Unlock()
	defer func() {
		k.mu.Lock()
		k.tail = nil
		k.mu.Unlock()
	}()
	if k.send(s, "shell", t.id, "execute_request", wire.ExecuteRequest{
		Code: d.settle(string(t.marker)), Silent: true, Expressions: map[string]string{}}) == nil {
		select {
		case <-t.done:
			return
		case <-ctx.Done():
		case <-s.lost:
		}
	}
	r.Out.MayLack(codeinterp.TruncatedByConnection)
}

// receiveTail takes what has the marker's parent.
func (e *execution) receiveTail(t *tail, f *frame) error {
	switch f.Msg.Header.Type {
	case "stream":
	case "execute_result", "display_data", "update_display_data":
		return e.receive(f, false)
	default:
		return nil
	}
	content, err := f.Content(e.k.cfg.MaxMessage)
	if err != nil {
		return err
	}
	var s struct{ Name, Text string }
	if err := json.Unmarshal(content, &s); err != nil {
		return err
	}
	text, _, found := bytes.Cut([]byte(s.Text), t.marker)
	if len(text) > 0 {
		e.q.put(event{kind: evStream, stream: StreamKind(s.Name), data: text})
	}
	if found {
		t.once.Do(func() { close(t.done) })
	}
	return nil
}
