package python

import (
	"bytes"
	"encoding/binary"
	"path"
	"time"

	"github.com/toolcell/toolcell/internal/frames"
	"github.com/toolcell/toolcell/providers/inmemory/memfs"
	"github.com/toolcell/toolcell/providers/inmemory/wasm/machine"
	"github.com/toolcell/toolcell/providers/inmemory/wasm/wasi"
)

const (
	// none is the answer to a request that has none.
	none = ^uint32(0)

	// maxRequest bounds what a program can make the host copy.
	maxRequest = 64 << 20
)

// A guest is what a module is connected to.
type guest struct {
	engine  *Engine
	machine *machine.Instance
	system  *wasi.System
	version string // of the interpreter, once it has started
	log     string // what it wrote before a run
	answer  []byte // to the last request
	run     *run   // in progress
}

func newGuest(e *Engine, files *memfs.FS) *guest {
	g := &guest{engine: e}
	g.system = wasi.New(g.surroundings(files))
	return g
}

func (g *guest) surroundings(files *memfs.FS) wasi.Config {
	return wasi.Config{Files: files, Library: g.engine.library, LibraryDir: path.Dir(g.engine.variant.libraryDir),
		Args: []string{"python3"}, Env: []string{"HOME=/", "TMPDIR=/tmp", "PATH=", "LANG=C.UTF-8", "USER=user"}, Write: g.write, Sleep: g.sleep, Yield: g.yield}
}

func (g *guest) close() {
	g.machine.Close()
	g.system.Close()
}

// imports are the functions that the module finds.
func imports() []machine.Import {
	guestOf := func(in *machine.Instance) *guest { return in.Host.(*guest) }
	list := []machine.Import{doorCall,
		{Module: "toolcell", Name: "yield", Call: func(in *machine.Instance, _ []uint64) uint32 {
			in.Look()
			return 0
		}},
		{Module: "toolcell", Name: "request", Params: "ii", Result: true, Call: func(in *machine.Instance, args []uint64) uint32 {
			defer in.Look() // a loop of large requests passes few yields of its own
			return guestOf(in).request(uint32(args[0]), uint32(args[1]))
		}},
		{Module: "toolcell", Name: "answer", Params: "i", Call: func(in *machine.Instance, args []uint64) uint32 {
			g := guestOf(in)
			if memory, at := in.Memory(), uint32(args[0]); uint64(at)+uint64(len(g.answer)) <= uint64(len(memory)) {
				copy(memory[at:], g.answer)
			}
			g.answer = nil
			return 0
		}},
	}
	for name, f := range wasi.Functions {
		list = append(list, machine.Import{Module: "wasi_snapshot_preview1", Name: name, Params: f.Params, Result: !f.NoResult,
			Call: func(in *machine.Instance, args []uint64) uint32 {
				e := f.Call(guestOf(in).system, in.Memory(), args)
				in.Look() // and so does one of large reads
				return uint32(e)
			}})
	}
	return list
}

// request deals with a request of the module, and returns the size of the answer.
func (g *guest) request(at, size uint32) uint32 {
	memory := g.machine.Memory()
	end := uint64(at) + uint64(size)
	if size > maxRequest || end > uint64(len(memory)) {
		return none
	}
	data := memory[at:end]
	if n, ok := frames.Length(data); g.run != nil && (!ok || n != len(data)-frames.Digits) {
		return none // a program's own, not to be copied
	}
	data = bytes.Clone(data)
	g.answer = nil
	switch f, err := frames.Parse(data); {
	case string(data) == "boot":
		g.answer = bootSource()
	case g.run == nil && g.started(data):
	case g.run == nil && err != nil:
		g.write(2, data) // of an interpreter that does not start
	case err != nil:
	case f.Kind == frames.Hello:
		if g.version == "" {
			g.version = string(f.Field(0))
		}
	case g.run != nil:
		g.answer = g.run.serve(&f)
	}
	if g.answer == nil {
		return none
	}
	return uint32(len(g.answer))
}

const maxLog = 64 << 10

// write takes what is written to standard output or error.
func (g *guest) write(descriptor int, p []byte) {
	if g.run == nil {
		g.log += string(p[:min(len(p), max(maxLog-len(g.log), 0))])
		return
	}
	g.run.write(descriptor, p)
}

func (g *guest) yield() { g.machine.Look() }

func (g *guest) sleep(d time.Duration) {
	if g.run != nil && g.run.host != nil {
		g.run.wait(d, nil)
	}
	g.machine.Look()
}

// The bits that an interrupt sets in each of the words: that SIGINT came, that any signal
// came, and that the interpreter is to look.
var interruptBits = [3]uint32{1, 1, 2}

// interrupt does what SIGINT does to a process. The program stands at a yield.
func (g *guest) interrupt() { g.setWords(func(v, bits uint32) uint32 { return v | bits }) }

// calm takes back an interrupt that no program saw.
func (g *guest) calm() { g.setWords(func(v, bits uint32) uint32 { return v &^ bits }) }

func (g *guest) setWords(set func(v, bits uint32) uint32) {
	memory := g.machine.Memory()
	for i, at := range g.engine.words {
		if word := memory[at : at+4]; true {
			binary.LittleEndian.PutUint32(word, set(binary.LittleEndian.Uint32(word), interruptBits[i]))
		}
	}
}
