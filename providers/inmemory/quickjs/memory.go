package quickjs

import (
	mathbits "math/bits"
	"sync"
	"unsafe"

	"github.com/toolcell/toolcell/providers/inmemory/engine"
	"github.com/toolcell/toolcell/providers/inmemory/quickjs/system"
	"modernc.org/libc"
	lib "modernc.org/libquickjs"
)

const (
	firstChunk = 256 << 10 // the chunk that a new VM starts with; these are reused
	nextChunk  = 1 << 20
	maxSmall   = 64 << 10 // larger blocks get a mapping of their own
	header     = 8        // before each block: its class, or its size
	pageSize   = 64 << 10 // a multiple of the page size everywhere
	minClass   = 5        // log2 of the smallest block

	// The engine takes its own arenas in pieces of just below 4 KiB: they
	// have a class of their own between those of 3.5 and 5 KiB.
	arena      = 4096
	arenaFrom  = 3584
	arenaClass = 63
)

// A region is all the memory of one VM: blocks by size class, cut from chunks
// that are mapped from the system, outside of Go's heap. It has two purposes
// beside allocation. The sum of its mappings is the memory limit, exactly.
// And it can be revoked: the engine's next access faults, which Go turns into
// a panic on the engine's goroutine, so that whatever the engine does, it
// stops.
//
// Only revoke may be called from another goroutine than the engine's.
type region struct {
	limit  int64
	budget *engine.Budget

	free [4 * 16]uintptr // by class: a list linked through the blocks
	bump uintptr
	end  uintptr

	failed bool  // an allocation was refused
	others bool  // that was for what all contexts together have
	host   bool  // that was for what the machine has
	extra  int64 // added to limit while an error is reported

	mu      sync.Mutex // guards what follows
	maps    []mapping
	mapped  int64
	revoked bool
}

// A mapping is memory from the system.
type mapping struct{ mem []byte }

func (m mapping) addr() uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(m.mem))) }

// class returns the size class of a block with n usable bytes, and the size
// of its blocks. There are four classes to each power of two.
func class(n uintptr) (idx int, size uintptr) {
	n += header
	if n > arenaFrom && n <= arena+header {
		return arenaClass, arena + header
	}
	if n <= 1<<minClass {
		return 0, 1 << minClass
	}
	shift := uint(mathbits.Len64(uint64(n-1))) - 1
	base, step := uintptr(1)<<shift, shift-2
	k := (n - base + 1<<step - 1) >> step
	return int(shift-minClass)*4 + int(k), base + k<<step
}

// alloc returns a block of at least n bytes, or 0.
func (h *region) alloc(n uintptr) uintptr {
	if n > maxSmall {
		return h.allocLarge(n)
	}
	idx, size := class(n)
	if p := h.free[idx]; p != 0 {
		h.free[idx] = *at[uintptr](p)
		return p
	}
	if h.end-h.bump < size && !h.more() {
		return 0
	}
	p := h.bump + header
	h.bump += size
	*at[uint64](p - header) = uint64(size - header)
	return p
}

func (h *region) more() bool {
	size := int64(nextChunk)
	m, ok := h.mapMore(size)
	if !ok {
		// Near the limit less than a whole chunk may still fit.
		if m, ok = h.mapMore(2 * pageSize); !ok {
			return false
		}
	}
	h.bump, h.end = m.addr(), m.addr()+uintptr(len(m.mem))
	return true
}

func (h *region) allocLarge(n uintptr) uintptr {
	// Far above any limit, and far from where rounding up would wrap.
	if n > 1<<40 {
		h.failed = true
		return 0
	}
	size := (int64(n) + header + pageSize - 1) &^ (pageSize - 1)
	m, ok := h.mapMore(size)
	if !ok {
		return 0
	}
	p := m.addr() + header
	*at[uint64](p - header) = uint64(size - header)
	return p
}

// usable returns how many bytes the block at p has.
func usable(p uintptr) uintptr { return uintptr(*at[uint64](p - header)) }

func (h *region) release(p uintptr) {
	n := usable(p)
	// A block of its own has nearly two pages of 64 KiB at least, a small one never
	// more than the class of maxSmall has.
	if n > maxSmall+pageSize/2 {
		h.unmapLarge(p - header)
		return
	}
	idx, _ := class(n)
	*at[uintptr](p) = h.free[idx]
	h.free[idx] = p
}

// mapMore maps size bytes within the limit and the budget.
func (h *region) mapMore(size int64) (mapping, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.revoked {
		// A refusal would be an exception, which the program could catch to go on.
		panic(errRevoked)
	}
	if !h.count(size) {
		return mapping{}, false
	}
	mem, err := system.MapMemory(int(size))
	if err != nil {
		h.mapped -= size
		h.budget.Give(size)
		h.failed, h.host = true, true
		return mapping{}, false
	}
	h.maps = append(h.maps, mapping{mem})
	return mapping{mem}, true
}

// count takes n bytes within the limit and the budget. The region is locked.
func (h *region) count(n int64) bool {
	if h.mapped+n > h.limit+h.extra {
		h.failed = true
		return false
	}
	if !h.budget.Take(n) {
		h.failed, h.others = true, true
		return false
	}
	h.mapped += n
	return true
}

// hold counts n bytes that the host keeps for the program in Go's heap, as mapMore
// counts.
func (h *region) hold(n int64) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.count(n)
}

// letGo gives back what hold counted.
func (h *region) letGo(n int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.mapped -= n
	h.budget.Give(n)
}

func (h *region) unmapLarge(addr uintptr) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.revoked {
		panic(errRevoked)
	}
	for i := len(h.maps) - 1; i >= 0; i-- {
		if m := h.maps[i]; m.addr() == addr {
			h.maps[i] = h.maps[len(h.maps)-1]
			h.maps = h.maps[:len(h.maps)-1]
			h.mapped -= int64(len(m.mem))
			h.budget.Give(int64(len(m.mem)))
			system.UnmapMemory(m.mem)
			return
		}
	}
	panic("quickjs: a block that is not there was released")
}

// revoke takes all memory away from the engine, which can then only be
// closed. It may be called from any goroutine while the heap is open.
func (h *region) revoke() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.revoked {
		return
	}
	h.revoked = true
	for _, m := range h.maps {
		system.ProtectMemory(m.mem)
	}
}

// close gives all memory back, but for the first chunk, which it returns; ok is
// false where that was revoked.
func (h *region) close() (first mapping, ok bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for i, m := range h.maps {
		// Only the first is of the size that a new VM starts with.
		if i == 0 && !h.revoked {
			first, ok = m, true
			continue
		}
		system.UnmapMemory(m.mem)
	}
	h.budget.Give(h.mapped)
	// As if revoked: a watcher that is late must not poke what is gone.
	h.maps, h.mapped, h.revoked = nil, 0, true
	return first, ok
}

// newRegion returns a region that starts in the chunk of s.
func newRegion(limit int64, budget *engine.Budget, s shell) *region {
	h := &region{limit: limit, budget: budget, maps: []mapping{s.chunk}, mapped: firstChunk}
	h.bump = h.maps[0].addr()
	h.end = h.bump + firstChunk
	return h
}

// A shell is what a closed VM leaves for a new one: its first chunk, cleared,
// and the state of the C library. Making them takes longer than filling them.
type shell struct {
	chunk mapping
	tls   *libc.TLS
}

// A pool keeps shells.
type pool struct {
	mu     sync.Mutex
	shells []shell
}

const maxPooled = 8

func (p *pool) get() (shell, error) {
	p.mu.Lock()
	if n := len(p.shells); n > 0 {
		s := p.shells[n-1]
		p.shells = p.shells[:n-1]
		p.mu.Unlock()
		return s, nil
	}
	p.mu.Unlock()
	mem, err := system.MapMemory(firstChunk)
	if err != nil {
		return shell{}, err
	}
	return shell{mapping{mem}, libc.NewTLS()}, nil
}

func (p *pool) put(s shell) {
	// What one program left must not be readable by the next.
	clear(s.chunk.mem)
	p.mu.Lock()
	room := len(p.shells) < maxPooled
	if room {
		p.shells = append(p.shells, s)
	}
	p.mu.Unlock()
	if !room {
		s.free()
	}
}

// drop frees all shells.
func (p *pool) drop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, s := range p.shells {
		s.free()
	}
	p.shells = nil
}

func (s shell) free() {
	system.UnmapMemory(s.chunk.mem)
	s.tls.Close()
}

// The engine's allocation functions. Their state's opaque is the *region.

func cMalloc(_ *libc.TLS, s uintptr, size lib.Tsize_t) uintptr {
	state := at[lib.TJSMallocState](s)
	p := at[region](uintptr(state.Fopaque)).alloc(uintptr(size))
	if p != 0 {
		state.Fmalloc_count++
		state.Fmalloc_size += lib.Tsize_t(usable(p))
	}
	return p
}

func cFree(_ *libc.TLS, s, p uintptr) {
	if p == 0 {
		return
	}
	state := at[lib.TJSMallocState](s)
	state.Fmalloc_count--
	state.Fmalloc_size -= lib.Tsize_t(usable(p))
	at[region](uintptr(state.Fopaque)).release(p)
}

func cRealloc(tls *libc.TLS, s, p uintptr, size lib.Tsize_t) uintptr {
	if p == 0 {
		if size == 0 {
			return 0
		}
		return cMalloc(tls, s, size)
	}
	if size == 0 {
		cFree(tls, s, p)
		return 0
	}
	old := usable(p)
	// Stays where it is, unless half of it would lie idle.
	if n := uintptr(size); n <= old && n >= old/2 {
		return p
	}
	q := cMalloc(tls, s, size)
	if q == 0 {
		return 0
	}
	copy(span{q, int(size)}.raw(), span{p, int(old)}.raw())
	cFree(tls, s, p)
	return q
}

func cUsable(_ *libc.TLS, p uintptr) lib.Tsize_t {
	if p == 0 {
		return 0
	}
	return lib.Tsize_t(usable(p))
}
