package quickjs

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/providers/inmemory/engine"
	"modernc.org/libc"
	lib "modernc.org/libquickjs"
)

const (
	scratchSize = 4 << 10

	// pollEvery is after how many calls and loop iterations the engine asks
	// whether to go on. Its own default is 10,000, which is minutes where
	// each iteration parses a large JSON text.
	pollEvery = 64

	// maxFrames bounds the memory of the C library's stack frames, which is
	// not part of the heap.
	maxFrames = 32 << 20

	// reserve is how much a heap may exceed its limit by while an error is
	// reported.
	reserve = 1 << 20
)

// errRevoked is what the engine's goroutine panics with once its memory was
// revoked, unless a fault comes first.
var errRevoked = errors.New("the engine's memory was revoked")

// A vm is one QuickJS runtime with one realm. All but stop may be used by one
// goroutine at a time only. Its memory is never given back piece by piece:
// closing it drops the whole heap.
type vm struct {
	tls  *libc.TLS
	heap *region
	pool *pool
	rt   uintptr
	ctx  uintptr // the realm that the engine runs, the program's unless driver code runs

	realms [2]uintptr // the program's realm, and the driver's where there is one

	scratch uintptr // 16 bytes for results by reference
	buffer  uintptr // scratchSize bytes, see cName

	stopping atomic.Bool  // the run shall end, without catch or finally
	overflow bool         // it was stopped for the size of its stack
	breathe  func()       // called by the running program now and then
	frames   frameCounter // of the C library's stack

	engineCompiler uintptr // see compile.go
	compiler       compileFunc
	newMark        func() string // of a program whose loops are marked

	borrowed, counted int64 // see borrow

	in        *instance // what the realm's host functions work on
	rawErrors bool      // errors keep the engine's stack
}

// newVM returns a VM with the standard built-ins and nothing else.
func newVM(c engine.Config, p *pool) (*vm, error) {
	if !c.Budget.Take(firstChunk) {
		return nil, fmt.Errorf("%w: the memory of all contexts is used up", codeinterp.ErrCapacity)
	}
	s, err := p.get()
	if err != nil {
		c.Budget.Give(firstChunk)
		return nil, fmt.Errorf("%w: no memory for a new context", codeinterp.ErrCapacity)
	}
	m := &vm{tls: s.tls, pool: p, heap: newRegion(c.Limits.Memory, c.Budget, s)}
	m.scratch = m.heap.alloc(16)
	m.buffer = m.heap.alloc(scratchSize)
	functions := m.heap.alloc(unsafe.Sizeof(lib.TJSMallocFunctions{}))
	*at[lib.TJSMallocFunctions](functions) = lib.TJSMallocFunctions{
		Fjs_malloc: funcPtr(cMalloc), Fjs_free: funcPtr(cFree),
		Fjs_realloc: funcPtr(cRealloc), Fjs_malloc_usable_size: funcPtr(cUsable),
	}
	m.rt = lib.XJS_NewRuntime2(m.tls, functions, uintptr(unsafe.Pointer(m.heap)))
	if m.rt != 0 {
		m.ctx = lib.XJS_NewContext(m.tls, m.rt)
	}
	if m.ctx == 0 {
		m.close()
		return nil, fmt.Errorf("%w: the memory limit is too small for a context", codeinterp.ErrInvalid)
	}
	m.realms[0] = m.ctx
	m.seed()
	lib.XJS_SetContextOpaque(m.tls, m.ctx, uintptr(unsafe.Pointer(m)))
	m.correctCompiled()
	lib.XJS_SetInterruptHandler(m.tls, m.rt, funcPtr(cInterrupt), uintptr(unsafe.Pointer(m)))
	lib.XJS_SetMaxStackSize(m.tls, m.rt, lib.Tsize_t(c.Limits.Stack))
	return m, nil
}

// seed gives the realm's Math.random a state of its own. The engine's is the
// time, which contexts made at once share.
func (vm *vm) seed() {
	// The generator would stay at zero forever.
	at[lib.TJSContext](vm.ctx).Frandom_state = rand.Uint64() | 1
}

// close gives back what the VM has. It must not run.
func (vm *vm) close() {
	vm.giveBack(0)
	first, ok := vm.heap.close()
	switch s := (shell{first, vm.tls}); {
	case !ok:
		vm.tls.Close()
	// A panic has left frames of the C library's functions on it: it is not used again.
	case vm.tls.StackSlots() != 0:
		s.free()
	default:
		vm.pool.put(s)
	}
	vm.rt, vm.ctx = 0, 0
}

// stop makes the running program end at its next call or loop iteration. It
// may be called from any goroutine while the VM is open, and again.
func (vm *vm) stop() {
	vm.stopping.Store(true)
	vm.heap.poke(vm.realms[0])
}

// cInterrupt is called by the engine every pollEvery calls and iterations.
func cInterrupt(tls *libc.TLS, _, opaque uintptr) int32 {
	m := at[vm](opaque)
	every := int32(pollEvery)
	if m.stopping.Load() {
		every = 0 // promises of async functions take what is thrown
	}
	// Both realms: which of them the engine runs changes within a run.
	for _, ctx := range m.realms {
		if ctx != 0 {
			at[lib.TJSContext](ctx).Finterrupt_counter = every
		}
	}
	if every == 0 {
		return 1
	}
	if m.frames.size(tls) > maxFrames {
		m.overflow = true
		m.stopping.Store(true)
		return 1
	}
	if m.breathe != nil {
		m.breathe()
		if m.stopping.Load() {
			return 1
		}
	}
	return 0
}

// poke makes the engine poll at once. The engine may overwrite it, so it is
// done again and again.
func (h *region) poke(ctx uintptr) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.revoked {
		counter := &at[lib.TJSContext](ctx).Finterrupt_counter
		atomic.StoreInt32(counter, 0)
	}
}

func (h *region) revokedNow() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.revoked
}

// A frameCounter sums up the frames that the C library allocates for
// JavaScript functions. Between two polls at most pollEvery frames are added
// and as many removed, so only the last ones are counted anew.
type frameCounter struct {
	sums []int64 // of the first n+1 frames
}

func (c *frameCounter) size(tls *libc.TLS) int64 {
	off := allocasOffset()
	if off < 0 {
		return 0
	}
	frames := *(*[]uintptr)(unsafe.Add(unsafe.Pointer(tls), off))
	from := max(0, min(len(c.sums), len(frames))-2*pollEvery)
	c.sums = c.sums[:from]
	var sum int64
	if from > 0 {
		sum = c.sums[from-1]
	}
	for _, p := range frames[from:] {
		if p != 0 {
			sum += int64(libc.Xmalloc_usable_size(tls, p))
		}
		c.sums = append(c.sums, sum)
	}
	return sum
}

// allocasOffset is where a TLS lists its frames, -1 if unknown.
var allocasOffset = sync.OnceValue(func() int {
	f, ok := reflect.TypeFor[libc.TLS]().FieldByName("allocas")
	if !ok || f.Type != reflect.TypeFor[[]uintptr]() {
		return -1
	}
	return int(f.Offset)
})

// holdArenas takes a small block of every size, so that the engine's arenas are
// not given back and made again in every run. Only instances that are used
// more than once pay for it.
func (vm *vm) holdArenas() {
	for n := lib.Tsize_t(8); n <= lib.MJS_MALLOC_MAX_SMALL_SIZE-8; n += max(8, n/8&^7) {
		lib.Xjs_malloc_rt(vm.tls, vm.rt, n)
	}
}

// memory returns how many bytes the VM has from the system.
func (vm *vm) memory() int64 {
	vm.heap.mu.Lock()
	defer vm.heap.mu.Unlock()
	return vm.heap.mapped
}

// compile compiles a script, and an asynchronous one where await is set. The
// result is an exception for a syntax error.
func (vm *vm) compile(code, name string, await bool) value {
	flags := int32(lib.MJS_EVAL_TYPE_GLOBAL | lib.MJS_EVAL_FLAG_COMPILE_ONLY)
	if await {
		flags |= lib.MJS_EVAL_FLAG_ASYNC
	}
	return vm.eval(code, name, flags)
}

func (vm *vm) eval(code, name string, flags int32) value {
	return vm.lent(name, func(file uintptr) value {
		return vm.lent(code, func(p uintptr) value {
			return lib.XJS_Eval(vm.tls, vm.ctx, p, lib.Tsize_t(len(code)), file, flags)
		})
	})
}
