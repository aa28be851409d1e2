package wasi_test

import (
	"encoding/binary"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/toolcell/toolcell/providers/inmemory/memfs"
	"github.com/toolcell/toolcell/providers/inmemory/wasm/wasi"
)

// A module calls functions as one that runs would.
type module struct {
	*testing.T
	sys    *wasi.System
	memory []byte
	wrote  strings.Builder
	slept  time.Duration
}

// Where in the memory things are.
const (
	pathAt   = 100
	vectorAt = 300
	dataAt   = 1000
	resultAt = 8
	root     = 3
)

func newModule(t *testing.T, o *memfs.Options) *module {
	m := &module{T: t, memory: make([]byte, 64<<10)}
	m.sys = wasi.New(wasi.Config{Files: memfs.New(o), Library: fstest.MapFS{"os.pyc": {Data: []byte("library")}}, LibraryDir: "usr/lib/python",
		Env: []string{"A=1", "BC=23"}, Write: func(fd int, p []byte) { m.wrote.Write(append([]byte{'0' + byte(fd)}, p...)) },
		Sleep: func(d time.Duration) { m.slept += d }, Yield: func() {}})
	return m
}

func (m *module) call(name string, args ...uint64) wasi.Errno {
	m.Helper()
	f := wasi.Functions[name]
	if len(args) != len(f.Params) {
		m.Fatalf("%s takes %d arguments", name, len(f.Params))
	}
	return f.Call(m.sys, m.memory, args)
}

func (m *module) want(want wasi.Errno, name string, args ...uint64) {
	m.Helper()
	if got := m.call(name, args...); got != want {
		m.Errorf("%s%v: %d, want %d", name, args, got, want)
	}
}

func (m *module) u32(at int) uint32 { return binary.LittleEndian.Uint32(m.memory[at:]) }

// path writes a path and returns its address and length.
func (m *module) path(p string) (uint64, uint64) {
	copy(m.memory[pathAt:], p)
	return pathAt, uint64(len(p))
}

const (
	readWrite = 1<<1 | 1<<6
	readOnly  = 1 << 1
	create    = 1
	directory = 2
	exclusive = 4
	truncate  = 8
)

func (m *module) open(p string, flags, rights uint64, want wasi.Errno) uint64 {
	m.Helper()
	at, n := m.path(p)
	m.want(want, "path_open", root, 0, at, n, flags, rights, 0, 0, resultAt)
	return uint64(m.u32(resultAt))
}

// vector makes a vector of one buffer.
func (m *module) vector(n int) {
	binary.LittleEndian.PutUint32(m.memory[vectorAt:], dataAt)
	binary.LittleEndian.PutUint32(m.memory[vectorAt+4:], uint32(n))
}

func (m *module) write(fd uint64, data string, want wasi.Errno) {
	m.Helper()
	copy(m.memory[dataAt:], data)
	m.vector(len(data))
	m.want(want, "fd_write", fd, vectorAt, 1, resultAt)
}

func (m *module) read(fd uint64, n int) string {
	m.Helper()
	m.vector(n)
	m.want(0, "fd_read", fd, vectorAt, 1, resultAt)
	return string(m.memory[dataAt:][:m.u32(resultAt)])
}

// TestFiles: files are read and written at any place, and after they were removed.
func TestFiles(t *testing.T) {
	m := newModule(t, nil)
	fd := m.open("a", create|exclusive, readWrite, 0)
	m.open("a", create|exclusive, readWrite, wasi.ErrnoExist)
	m.write(fd, "hello", 0)
	m.want(0, "fd_seek", fd, 1, 0, resultAt)
	if got := m.read(fd, 100); got != "ello" {
		t.Errorf("read %q", got)
	}
	at, n := m.path("a")
	m.want(0, "path_unlink_file", root, at, n)
	m.write(fd, "!", 0)
	m.want(0, "fd_filestat_set_size", fd, 2)
	m.want(0, "fd_seek", fd, 0, 0, resultAt)
	if got := m.read(fd, 100); got != "he" {
		t.Errorf("read %q", got)
	}
	m.want(0, "fd_close", fd)
	m.want(wasi.ErrnoBadf, "fd_close", fd)
	m.open("a", 0, readOnly, wasi.ErrnoNoent)
	if bytes, files := m.sys.Files.Used(); bytes != 0 || files != 0 {
		t.Errorf("%d bytes and %d files are left", bytes, files)
	}
}

// TestDirectories: they are made, listed and removed; /tmp appears when it is used.
func TestDirectories(t *testing.T) {
	m := newModule(t, nil)
	at, n := m.path("d")
	m.want(0, "path_create_directory", root, at, n)
	m.want(wasi.ErrnoExist, "path_create_directory", root, at, n)
	for _, name := range []string{"d/x", "d/y", "tmp/z"} {
		m.want(0, "fd_close", m.open(name, create, readWrite, 0))
	}
	at, n = m.path("d")
	m.want(wasi.ErrnoNotempty, "path_remove_directory", root, at, n)
	m.want(wasi.ErrnoIsdir, "path_unlink_file", root, at, n)
	fd := m.open(".", directory, readOnly, 0)
	m.want(0, "fd_readdir", fd, dataAt, 1000, 0, resultAt)
	list := string(m.memory[dataAt:][:m.u32(resultAt)])
	if !strings.Contains(list, "d") || !strings.Contains(list, "tmp") || len(list) != 2*24+4 {
		t.Errorf("listed %q", list)
	}
	m.open("d", 0, readWrite, wasi.ErrnoIsdir)
	m.open("d/x/y", create, readWrite, wasi.ErrnoNotdir)
}

// TestLibrary: the library can be read and not changed, and no path leads out of the root.
func TestLibrary(t *testing.T) {
	m := newModule(t, nil)
	if got := m.read(m.open("../../usr/lib/python/os.pyc", 0, readOnly, 0), 100); got != "library" {
		t.Errorf("read %q", got)
	}
	m.open("usr/lib/python/os.pyc", 0, readWrite, wasi.ErrnoRofs)
	m.open("usr/lib/python/new", create, readWrite, wasi.ErrnoRofs)
	m.open("../../../etc/passwd", 0, readOnly, wasi.ErrnoNoent)
	at, n := m.path("usr/lib/python/os.pyc")
	m.want(wasi.ErrnoRofs, "path_unlink_file", root, at, n)
}

// TestQuota: a full file system is an error of its own, and 512 files may be open.
func TestQuota(t *testing.T) {
	m := newModule(t, &memfs.Options{MaxBytes: 10})
	fd := m.open("a", create, readWrite, 0)
	m.write(fd, "0123456789+", wasi.ErrnoNospc)
	for range 511 {
		m.open("a", 0, readOnly, 0)
	}
	m.open("a", 0, readOnly, wasi.ErrnoMfile)
	m.sys.Close()
	if n := m.sys.OpenFiles(); n != 0 {
		t.Errorf("%d files are open", n)
	}
}

// TestStreams: standard input is what was given, and what is written goes to the host.
func TestStreams(t *testing.T) {
	m := newModule(t, nil)
	m.sys.SetInput([]byte("input"))
	if got := m.read(0, 3) + m.read(0, 10) + m.read(0, 10); got != "input" {
		t.Errorf("read %q", got)
	}
	m.write(1, "out", 0)
	m.write(2, "err", 0)
	if got := m.wrote.String(); got != "1out2err" {
		t.Errorf("wrote %q", got)
	}
	m.write(0, "x", wasi.ErrnoBadf)
}

// TestSleep: a module sleeps in the host, which can end that.
func TestSleep(t *testing.T) {
	m := newModule(t, nil)
	s := m.memory[dataAt : dataAt+96]
	for i, ns := range []uint64{5e6, 3e6} {
		binary.LittleEndian.PutUint64(s[i*48:], uint64(i+1))
		binary.LittleEndian.PutUint32(s[i*48+16:], 1)
		binary.LittleEndian.PutUint64(s[i*48+24:], ns)
	}
	m.want(0, "poll_oneoff", dataAt, 2000, 2, resultAt)
	if m.slept != 3*time.Millisecond || m.u32(resultAt) != 1 || m.memory[2000] != 2 {
		t.Errorf("slept %v, %d events, of %d", m.slept, m.u32(resultAt), m.memory[2000])
	}
	m.want(wasi.ErrnoInval, "poll_oneoff", dataAt, 2000, 0, resultAt)
}

// FuzzFunctions: no arguments make a function fail otherwise than by its result.
func FuzzFunctions(f *testing.F) {
	var names []string
	for name := range wasi.Functions {
		if name != "proc_exit" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for i := range names {
		f.Add(byte(i), uint64(3), uint64(1<<32-1), uint64(100), uint64(4))
	}
	f.Fuzz(func(t *testing.T, which byte, a, b, c, d uint64) {
		m := newModule(t, nil)
		m.open("a", create, readWrite, 0)
		name := names[int(which)%len(names)]
		args := []uint64{a, b, c, d, b, c, d, a, c}[:len(wasi.Functions[name].Params)]
		for i, p := range wasi.Functions[name].Params {
			if p == 'i' {
				args[i] &= 1<<32 - 1
			}
		}
		m.call(name, args...)
	})
}
