package seccomp

import (
	"maps"
	"math"
	"slices"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A Filter is a seccomp program.
type Filter []unix.SockFilter

// A Builder builds a Filter that allows all that nothing refuses.
type Builder struct {
	head  Filter
	calls map[uint32]Filter // the checks of a system call, by its number
}

// What the kernel hands to the program, struct seccomp_data, and what the
// program answers; see seccomp(2). Arguments are 64 bits wide, low word first
// on every architecture here.
const (
	offNr   = 0
	offArch = 4
	offArgs = 16

	retAllow = 0x7fff0000
	retKill  = 0x80000000
	retErrno = 0x00050000

	retNotify = 0x7fc00000
)

const (
	opLoad = unix.BPF_LD | unix.BPF_W | unix.BPF_ABS
	opRet  = unix.BPF_RET | unix.BPF_K
	opEq   = unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K
	opGe   = unix.BPF_JMP | unix.BPF_JGE | unix.BPF_K
	opSet  = unix.BPF_JMP | unix.BPF_JSET | unix.BPF_K
	opAnd  = unix.BPF_ALU | unix.BPF_AND | unix.BPF_K
)

func op(code uint16, k uint32) unix.SockFilter { return unix.SockFilter{Code: code, K: k} }

func jump(code uint16, k uint32, yes, no int) unix.SockFilter {
	if max(yes, no) > math.MaxUint8 {
		panic("seccomp: too many checks of one system call")
	}
	return unix.SockFilter{Code: code, K: k, Jt: uint8(yes), Jf: uint8(no)}
}

// loadArg loads the low word of an argument, loadArgHigh the high one.
func loadArg(i int) unix.SockFilter { return op(opLoad, uint32(offArgs+8*i)) }

func loadArgHigh(i int) unix.SockFilter { return op(opLoad, uint32(offArgs+8*i+4)) }

func fail(e unix.Errno) unix.SockFilter { return op(opRet, retErrno|uint32(e)) }

// New returns a builder of a filter that kills callers of another architecture's
// system calls, and of x32's where x32 is not 0.
func New(arch, x32 uint32) *Builder {
	// The same number is another call in another architecture, and in x32, which
	// shares the one of amd64 and sets a bit of the number.
	f := Filter{op(opLoad, offArch), jump(opEq, arch, 1, 0), op(opRet, retKill), op(opLoad, offNr)}
	if x32 != 0 {
		f = append(f, jump(opGe, x32, 0, 1), op(opRet, retKill))
	}
	return &Builder{f, map[uint32]Filter{}}
}

// together is how many system calls have their checks one after the other. The kernel
// runs the program for every system call there is when a process is put under it, which
// takes 0.2 ms with all in one row.
const together = 8

// Build returns the filter.
func (b *Builder) Build() Filter {
	f := slices.Clone(b.head)
	groups := slices.Collect(slices.Chunk(slices.Sorted(maps.Keys(b.calls)), together))
	for i, group := range groups {
		var checks Filter
		for _, nr := range group {
			of := b.calls[nr]
			if of[0].Code != opRet {
				of = append(of, op(opRet, retAllow))
			}
			checks = append(append(checks, jump(opEq, nr, 0, len(of))), of...)
		}
		if i+1 < len(groups) {
			checks = append(checks, op(opRet, retAllow))
			f = append(f, jump(opGe, groups[i+1][0], len(checks), 0))
		}
		f = append(f, checks...)
	}
	return append(f, op(opRet, retAllow))
}

// on adds checks for one system call; they decide, or fall out at their end.
func (b *Builder) on(nr uint32, checks ...unix.SockFilter) {
	b.calls[nr] = append(b.calls[nr], checks...)
}

// Deny makes system calls fail with e, or succeed and do nothing if e is 0.
func (b *Builder) Deny(e unix.Errno, nrs ...uint32) {
	for _, nr := range nrs {
		b.on(nr, fail(e))
	}
}

// denyUnless denies the call unless its argument, masked, is one of values.
func (b *Builder) denyUnless(e unix.Errno, nr uint32, arg int, mask uint32, values ...uint32) {
	checks := []unix.SockFilter{loadArg(arg), op(opAnd, mask)}
	for i, v := range values {
		// Over the values that are left, and over the refusal behind them.
		checks = append(checks, jump(opEq, v, len(values)-i, 0))
	}
	b.on(nr, append(checks, fail(e))...)
}

// denyValues denies the call if its argument is one of values.
func (b *Builder) denyValues(e unix.Errno, nr uint32, arg int, values ...uint32) {
	checks := []unix.SockFilter{loadArg(arg)}
	for _, v := range values {
		checks = append(checks, jump(opEq, v, 0, 1), fail(e))
	}
	b.on(nr, checks...)
}

// denyAbove denies the call if its argument, of 64 bits, is more than most.
func (b *Builder) denyAbove(e unix.Errno, nr uint32, arg int, most uint32) {
	b.on(nr, loadArgHigh(arg), jump(opEq, 0, 0, 2), loadArg(arg), jump(opGe, most+1, 0, 1), fail(e))
}

// DenyBits denies the call if its argument has any of the bits.
func (b *Builder) DenyBits(e unix.Errno, nr uint32, arg int, bits uint32) {
	b.on(nr, loadArg(arg), jump(opSet, bits, 0, 1), fail(e))
}

// Bytes returns the program as the kernel reads it: 8 bytes per instruction.
func (f Filter) Bytes() []byte {
	b := unsafe.Slice((*byte)(unsafe.Pointer(&f[0])), len(f)*int(unsafe.Sizeof(f[0])))
	return append([]byte(nil), b...)
}
