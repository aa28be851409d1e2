package mcpserver

import (
	"bytes"
	"encoding/json"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

const (
	// maxOpen is how many requests of a client on a stream wait for their answers, or
	// for it to read them, before no more are read.
	maxOpen = 1000

	// maxOpenBytes is how long they are together, unless it is one alone.
	maxOpenBytes = 32 << 20
)

// A backlog holds up what is read of a stream where answers to what was read before
// are not taken: each would wait in the server's memory.
type backlog struct {
	mu    sync.Mutex
	open  map[jsonrpc.ID]int // their lengths
	bytes int
	less  *sync.Cond
	over  bool
}

func newBacklog() *backlog {
	b := &backlog{open: map[jsonrpc.ID]int{}}
	b.less = sync.NewCond(&b.mu)
	return b
}

// add waits until there is room for requests of a line, and notes them. An id that
// is open already is none that will be answered again.
func (b *backlog) add(ids map[jsonrpc.ID]bool, size int) {
	if len(ids) == 0 {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for !b.over && len(b.open) > 0 && (len(b.open)+len(ids) > maxOpen || b.bytes+size > maxOpenBytes) {
		b.less.Wait()
	}
	for id := range ids {
		if _, open := b.open[id]; !open {
			// An equal part for each, as written knows their ids only.
			b.open[id] = size / len(ids)
			b.bytes += size / len(ids)
		}
	}
}

// waits reports whether one of the requests is open.
func (b *backlog) waits(ids map[jsonrpc.ID]bool) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	for id := range ids {
		if _, open := b.open[id]; open {
			return true
		}
	}
	return false
}

// written notes which requests a line answers that was taken.
func (b *backlog) written(line []byte) {
	ids := answered(line)
	if len(ids) == 0 {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, id := range ids {
		b.bytes -= b.open[id]
		delete(b.open, id)
	}
	b.less.Broadcast()
}

// close lets everything be read.
func (b *backlog) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.over = true
	b.less.Broadcast()
}

// answered returns the ids of the requests that a line answers.
func answered(line []byte) (ids []jsonrpc.ID) {
	if bytes.HasPrefix(line, []byte("[")) {
		var list []json.RawMessage
		if json.Unmarshal(line, &list) != nil {
			return nil
		}
		for _, m := range list {
			ids = append(ids, answered(m)...)
		}
		return ids
	}
	// An answer may be long, and what comes before its result is short.
	d := json.NewDecoder(bytes.NewReader(line))
	var id jsonrpc.ID
	for first := true; ; first = false {
		key, err := d.Token()
		if err != nil || key == json.Delim('}') || key == "method" {
			return nil
		}
		if first {
			continue // the brace
		}
		if key == "result" || key == "error" {
			return append(ids, id)
		}
		var v any
		if d.Decode(&v) != nil {
			return nil
		}
		if key == "id" {
			if id, err = jsonrpc.MakeID(v); err != nil {
				return nil
			}
		}
	}
}
