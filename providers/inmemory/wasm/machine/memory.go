package machine

import (
	"fmt"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/providers/inmemory/engine"
)

// ownPages is what an instance counts for from its start: what it writes of its image at
// once, and what the host keeps about it.
const ownPages = 1 << 20

// A memory is that of an instance. It implements experimental.LinearMemory.
type memory struct {
	bytes  []byte // as large as it may become
	limit  uint64
	free   func() // ends the mapping
	image  uint64
	budget *engine.Budget

	taken int64
	pages int64 // of taken, what the image's part counts for
	size  uint64

	refused int // how often it could not grow
}

// open returns the memory of a new instance.
func (i *Image) open(limit int64, budget *engine.Budget) (*memory, error) {
	limit = min(limit, 1<<32)
	m := &memory{limit: uint64(limit), image: uint64(i.size), budget: budget}
	if m.pages = ownPages; !knowsWritten {
		m.pages = max(i.size, ownPages)
	}
	if !m.take(m.pages) {
		return nil, fmt.Errorf("%w: no memory is left for another context", codeinterp.ErrCapacity)
	}
	var err error
	if m.bytes, m.free, err = i.mapped(limit); err != nil {
		m.Free()
		return nil, fmt.Errorf("%w: %v", codeinterp.ErrCapacity, err)
	}
	return m, nil
}

func (m *memory) take(n int64) bool {
	if m.budget != nil && !m.budget.Take(n) {
		return false
	}
	m.taken += n
	return true
}

// charge takes from a budget what the memory has taken without one.
func (m *memory) charge(budget *engine.Budget) bool {
	if budget != nil && !budget.Take(m.taken) {
		return false
	}
	m.budget = budget
	return true
}

// Reallocate implements experimental.LinearMemory. It returns nil where the memory cannot
// grow, which the program sees as a failure of memory.grow.
func (m *memory) Reallocate(size uint64) []byte {
	more := int64(size) - int64(max(m.size, m.image))
	if size > m.limit || more > 0 && !m.take(more) {
		m.refused++
		return nil
	}
	m.size = max(m.size, size)
	return m.bytes[:size]
}

// settle counts what was written of the image, which is not asked for beforehand.
func (m *memory) settle() {
	if m.budget == nil || !knowsWritten {
		return
	}
	n, ok := m.written()
	if !ok {
		n = int64(m.image)
	}
	n = max(n, ownPages)
	m.budget.Add(n - m.pages)
	m.taken += n - m.pages
	m.pages = n
}

// Free implements experimental.LinearMemory.
func (m *memory) Free() {
	if m.free != nil {
		m.free()
		m.free, m.bytes = nil, nil
	}
	if m.budget != nil {
		m.budget.Give(m.taken)
	}
	m.taken = 0
}
