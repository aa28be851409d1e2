package sandbox

import (
	"os"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/toolcell/toolcell/internal/procfs"
)

// TestMeasuredAgain has a tree grow while its memory is measured, and stand
// still then: it is looked at until a measurement began after that.
func TestMeasuredAgain(t *testing.T) {
	const limit = 1 << 40
	p := newProc(&Sandbox{mode: Landlock}, &plan{limits: Limits{Memory: limit}})
	p.usage.p = p
	u := &p.usage
	look := func() {
		// Resident by what it says, which counts shared pages, not by what it has.
		st := procfs.Stat{PID: os.Getpid(), RSS: 2 * limit, Threads: 1}
		s := &sum{}
		s.add(&member{Stat: st, tree: u})
		u.update(s)
		u.check(s.members)
	}
	u.measuring.Store(true)
	for range 3 * stillLooks {
		look()
	}
	if !u.active {
		t.Fatal("not looked at any more, though it was not measured")
	}
	u.measuring.Store(false)
	look()
	for u.measuring.Load() {
		time.Sleep(time.Millisecond)
	}
	if look(); u.active {
		t.Error("looked at for ever, though it was measured and stands still")
	}
}

// TestGrowth: by how much a figure is above the least that it was.
func TestGrowth(t *testing.T) {
	var g growth
	for _, step := range []struct{ now, by int64 }{{500, 0}, {700, 200}, {400, 0}, {900, 500}} {
		if g.see(step.now); g.by != step.by {
			t.Errorf("at %d: %d, want %d", step.now, g.by, step.by)
		}
	}
	const meminfo = "MemTotal: 1000 kB\nMemFree: 300 kB\nMemAvailable: 800 kB\nBuffers: 10 kB\nCached: 200 kB\nSwapCached: 0 kB\n" +
		"AnonPages: 100 kB\nShmem: 50 kB\nSlab: 90 kB\nSReclaimable: 40 kB\nSUnreclaim: 50 kB\nPageTables: 5 kB\n"
	if n := kernelPart(meminfo); n != 345<<10 {
		t.Errorf("the kernel's part is %d", n)
	}
	if n := kernelPart(""); n != 0 {
		t.Errorf("unknown, the kernel's part is %d", n)
	}
}

// TestSharedObjects: which lines of /proc/PID/maps are shared memory without a
// name, and how much they are of it.
func TestSharedObjects(t *testing.T) {
	for line, want := range map[string]int64{
		"7f00000000-7f00100000 rw-s 00000000 00:01 4711                      /dev/zero (deleted)":     1 << 20,
		"7f00000000-7f00100000 rw-s 00100000 00:01 4711                      /dev/zero (deleted)":     2 << 20,
		"7f00000000-7f00001000 r--s 00000000 00:01 9                         /SYSV00000000 (deleted)": 4096,
		"7f00000000-7f00001000 rw-s 00000000 00:2a 9                         /dev/shm/x (deleted)":    4096,
		"7f00000000-7f00001000 rw-p 00000000 00:01 9                         /dev/zero (deleted)":     0,
		"7f00000000-7f00001000 rw-s 00000000 00:01 9                         /memfd:x (deleted)":      0,
		"7f00000000-7f00001000 rw-s 00000000 08:01 9                         /home/x (deleted)":       0,
		"7f00000000-7f00001000 rw-s 00000000 00:2a 9                         /dev/shm/x":              0,
		"7f00000000-7f00001000 rw-p 00000000 00:00 0":                                                 0,
		"7f00001000-7f00000000 rw-s 00000000 00:01 9 /dev/zero (deleted)":                             0,
		"x-y rw-s 00000000 00:01 9 /dev/zero (deleted)":                                               0,
		" (deleted)": 0,
	} {
		m, ok := parseShared(line)
		if n := int64(m.offset + m.to - m.from); ok != (want > 0) || ok && n != want {
			t.Errorf("%q: %d bytes, %v", line, n, ok)
		}
	}
	const size = 8 << 20
	before, _ := sharedObjects([]int{os.Getpid()})
	b, err := unix.Mmap(-1, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED|unix.MAP_ANON)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Munmap(b)
	for i := 0; i < size; i += 4096 {
		b[i] = 1
	}
	if err := unix.Madvise(b, unix.MADV_DONTNEED); err != nil {
		t.Fatal(err)
	}
	// This process and itself again: each counts once.
	if n, all := sharedObjects([]int{os.Getpid(), os.Getpid()}); n-before < size || n-before > size+1<<20 || !all {
		t.Errorf("%d bytes found, want %d; all: %v", n-before, size, all)
	}
}
