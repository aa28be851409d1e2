package machine_test

import (
	"bytes"
	"context"
	"errors"
	"runtime"
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/providers/inmemory/engine"
	"github.com/toolcell/toolcell/providers/inmemory/wasm/machine"
	"github.com/toolcell/toolcell/providers/inmemory/wasm/rewrite"
)

func section(id byte, body ...byte) []byte { return append([]byte{id, byte(len(body))}, body...) }

func function(code ...byte) []byte {
	body := append([]byte{0}, append(code, 0x0b)...)
	return append([]byte{byte(len(body))}, body...)
}

// source is a module with one page of memory that holds "x" at 0, and the functions
// spin(), put(value) which stores a byte at 0, get() and grow(pages).
var source = bytes.Join([][]byte{[]byte("\x00asm\x01\x00\x00\x00"),
	section(1, 4, 0x60, 0, 0, 0x60, 1, 0x7f, 0, 0x60, 0, 1, 0x7f, 0x60, 1, 0x7f, 1, 0x7f),
	section(2, 1, 1, 'h', 1, 'y', 0, 0),
	section(3, 4, 0, 1, 2, 3),
	section(5, 1, 0, 1),
	section(7, 4, 4, 's', 'p', 'i', 'n', 0, 1, 3, 'p', 'u', 't', 0, 2, 3, 'g', 'e', 't', 0, 3, 4, 'g', 'r', 'o', 'w', 0, 4),
	section(10, bytes.Join([][]byte{{4}, function(0x03, 0x40, 0x0c, 0, 0x0b), function(0x41, 0, 0x20, 0, 0x3a, 0, 0),
		function(0x41, 0, 0x2d, 0, 0), function(0x20, 0, 0x40, 0)}, nil)...),
	section(11, 1, 0, 0x41, 0, 0x0b, 1, 'x'),
}, nil)

var yields = []machine.Import{{Module: "h", Name: "y", Call: func(in *machine.Instance, _ []uint64) uint32 {
	in.Look()
	return 0
}}}

func compile(t *testing.T, o machine.Options) *machine.Module {
	t.Helper()
	o.Yield, o.Imports = "h.y", yields
	m, err := machine.Compile(context.Background(), source, &o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	})
	return m
}

func start(t *testing.T, m *machine.Module, c machine.Config) *machine.Instance {
	t.Helper()
	if c.Image == nil {
		c.Image = m.Image()
	}
	if c.Memory == 0 {
		c.Memory = 1 << 20
	}
	in, err := m.Start(&c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(in.Close)
	return in
}

func call(t *testing.T, in *machine.Instance, name string, args ...uint64) uint64 {
	t.Helper()
	v, err := in.Call(name, args...)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// TestImages: instances begin as their image and change nothing of it or of each other.
func TestImages(t *testing.T) {
	m := compile(t, machine.Options{})
	a, b := start(t, m, machine.Config{}), start(t, m, machine.Config{})
	call(t, a, "grow", 2)
	a.Memory()[2<<16] = 7
	call(t, a, "put", 'a')
	if got := call(t, b, "get"); got != 'x' {
		t.Errorf("another instance has %c", rune(got))
	}
	image, err := a.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	defer image.Close()
	call(t, a, "put", 'b')
	c := start(t, m, machine.Config{Image: image})
	if got := call(t, c, "get"); got != 'a' || len(c.Memory()) != 3<<16 || c.Memory()[2<<16] != 7 {
		t.Errorf("a copy has %c, %d bytes", rune(got), len(c.Memory()))
	}
}

// TestMemory: neither the limit of an instance nor the budget of all is passed, and what
// is closed gives its part back.
func TestMemory(t *testing.T) {
	m := compile(t, machine.Options{})
	budget := engine.NewBudget(4 << 20)
	in := start(t, m, machine.Config{Memory: 10 << 16, Budget: budget})
	in.Begin()
	if got := int32(call(t, in, "grow", 9)); got != 1 || in.Refused() {
		t.Errorf("growing to the limit: %d", got)
	}
	if got := int32(call(t, in, "grow", 1)); got != -1 || !in.Refused() {
		t.Errorf("growing beyond the limit: %d", got)
	}
	other := start(t, m, machine.Config{Memory: 1 << 30, Budget: budget})
	if got := int32(call(t, other, "grow", 64)); got != -1 {
		t.Errorf("growing beyond the budget: %d", got)
	}
	other.Close()
	in.Close()
	if used := budget.Used(); used != 0 {
		t.Errorf("%d bytes are taken", used)
	}
	if _, err := m.Start(&machine.Config{Image: m.Image(), Memory: 1 << 20, Budget: engine.NewBudget(1000)}); !errors.Is(err, codeinterp.ErrCapacity) {
		t.Errorf("no budget: %v", err)
	}
}

// TestStop: a program that computes for ever is interrupted, and then killed, and does not
// hold up the collector meanwhile.
func TestStop(t *testing.T) {
	m := compile(t, machine.Options{})
	in := start(t, m, machine.Config{})
	interrupts, breaths := 0, 0
	in.Interrupt = func() { interrupts++ }
	in.Breathe = func() { breaths++ }
	in.Begin()
	ended := make(chan error)
	go func() {
		_, err := in.Call("spin")
		ended <- err
	}()
	runtime.GC()
	in.Stop()
	select {
	case err := <-ended:
		if !errors.Is(err, machine.ErrKilled) {
			t.Errorf("got the error %v", err)
		}
	case <-time.After(30 * time.Second):
		t.Fatal("it goes on")
	}
	if interrupts == 0 || breaths == 0 {
		t.Errorf("%d interrupts, %d breaths", interrupts, breaths)
	}
}

// TestRefused: what is no module, and one that imports what the host has not, are refused.
func TestRefused(t *testing.T) {
	if _, err := machine.Compile(t.Context(), []byte("junk"), &machine.Options{Yield: "h.y", Imports: yields}); !errors.Is(err, rewrite.ErrModule) {
		t.Errorf("junk: %v", err)
	}
	m := compile(t, machine.Options{})
	if _, err := m.Start(&machine.Config{Image: m.Image(), Memory: 1000}); !errors.Is(err, codeinterp.ErrInvalid) {
		t.Errorf("too little memory: %v", err)
	}
}

// TestFork: a copy has the memory of the other, and neither changes the other's.
func TestFork(t *testing.T) {
	m := compile(t, machine.Options{})
	a := start(t, m, machine.Config{})
	call(t, a, "grow", 3)
	a.Memory()[3<<16+5], a.Memory()[9] = 7, 8
	b, err := m.Fork(a, machine.Config{Memory: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	call(t, a, "put", 'a')
	if !bytes.Equal(a.Memory()[1:], b.Memory()[1:]) || call(t, b, "get") != 'x' {
		t.Error("the copy differs")
	}
	if _, err := m.Fork(a, machine.Config{Memory: 2 << 16}); !errors.Is(err, codeinterp.ErrInvalid) {
		t.Errorf("a limit below what there is: %v", err)
	}
}

// TestWritten: what an instance writes of its image counts in the budget.
func TestWritten(t *testing.T) {
	m := compile(t, machine.Options{})
	first := start(t, m, machine.Config{Memory: 16 << 20})
	call(t, first, "grow", 100)
	image, err := first.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	defer image.Close()
	budget := engine.NewBudget(1 << 30)
	in := start(t, m, machine.Config{Image: image, Memory: 16 << 20, Budget: budget})
	in.Begin()
	memory := in.Memory()
	for at := 0; at < 5<<20; at += 4096 {
		memory[at] = 1
	}
	time.Sleep(2 * time.Millisecond)
	in.End()
	if used := budget.Used(); used < 5<<20 || used > image.Size() {
		t.Errorf("%d bytes count", used)
	}
	in.Close()
	if used := budget.Used(); used != 0 {
		t.Errorf("%d bytes are left", used)
	}
}

// TestException: an exception that leaves the module is an error.
func TestException(t *testing.T) {
	throws := bytes.Replace(source, section(5, 1, 0, 1), append(section(5, 1, 0, 1), section(13, 1, 0, 0)...), 1)
	throws = bytes.Replace(throws, []byte{0x03, 0x40, 0x0c, 0, 0x0b}, []byte{0x08, 0, 0x01, 0x01, 0x01}, 1)
	m, err := machine.Compile(t.Context(), throws, &machine.Options{Yield: "h.y", Imports: yields})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	in := start(t, m, machine.Config{})
	if _, err := in.Call("spin"); !errors.Is(err, machine.ErrException) {
		t.Errorf("got the error %v", err)
	}
}
