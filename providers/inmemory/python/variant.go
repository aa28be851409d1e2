package python

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"sync"

	"github.com/toolcell/toolcell/providers/inmemory/wasm/machine"
)

// ScienceName is the name of the pack with numpy and pandas, in its manifest.
const ScienceName = "python-science"

// A variant is what differs between the packs.
type variant struct {
	libraryDir string
	yield      string // an import of the module
	memory     int64  // bounds an instance where the options do not
	boot       func() []byte
	notes      string
	start      func(*guest) error              // runs the driver
	words      func(*guest) ([3]uint32, error) // finds what an interrupt sets
	trap       string                          // a function that traps when it gets a bad address
	turn       func(*guest) (uint64, error)    // lets the driver deal with a frame
}

var small = &variant{libraryDir: "usr/lib/python", yield: "toolcell.yield", memory: 256 << 20, boot: bootSource,
	notes: "The standard library only, with sqlite3, zlib, decimal and zoneinfo; no packages, sockets, threads, child processes, ssl or ctypes; http.client and urllib reach the hosts that are open to programs. ",
	start: func(g *guest) error { return g.called("start") },
	turn:  func(g *guest) (uint64, error) { return g.machine.Call("turn") },
	words: (*guest).askWords,
	trap:  "word"}

// askWords has the module say where the words are.
func (g *guest) askWords() (words [3]uint32, err error) {
	for i := range words {
		v, err := g.machine.Call("word", uint64(i))
		if err != nil {
			return words, err
		}
		words[i] = uint32(v)
	}
	return words, nil
}

var science = &variant{libraryDir: "usr/local/lib/python315.zip", yield: "wasi_snapshot_preview1.sched_yield", memory: 1 << 30,
	boot: sync.OnceValue(func() []byte {
		return []byte("exec(" + literal(own("science")+string(bootSource())) + ", {'__name__': 'toolcell', '__builtins__': __builtins__})")
	}),
	notes: "The science pack: numpy, pandas, scipy, scikit-learn, statsmodels, matplotlib, seaborn, sympy, networkx, openpyxl, lxml and others on 32-bit WebAssembly. " +
		"Integers of numpy have 64 bits, but indices are int32: arithmetic on the results of argsort, where, searchsorted or bincount has 64 bits too, and what is written back into them, as by i *= n, overflows at 2**31 with a RuntimeWarning. " +
		"Functions of floating point but division give no warnings. Of the network only http.client and urllib. No threads, child processes, ssl, ctypes or other compiled packages; JPEG files cannot be written. ",
	start: func(g *guest) error {
		at, err := g.put(g.engine.variant.boot())
		if err != nil {
			return err
		}
		return g.called("turn", uint64(at), uint64(len(g.engine.variant.boot())))
	},
	turn: func(g *guest) (uint64, error) {
		object, err := g.machine.Call("PyObject_CallNoArgs", uint64(g.engine.server))
		if err == nil && object == 0 {
			return 1, nil
		}
		return 0, err
	},
	words: (*guest).learnWords,
	trap:  "PyObject_CallNoArgs"}

// called calls a function that returns zero.
func (g *guest) called(name string, args ...uint64) error {
	result, err := g.machine.Call(name, args...)
	if err == nil && result != 0 {
		err = fmt.Errorf("result %d", int32(result))
	}
	return err
}

// put copies bytes to memory that the module's host_alloc gives.
func (g *guest) put(data []byte) (at uint32, err error) {
	v, err := g.machine.Call("host_alloc", uint64(max(len(data), 1)))
	if err != nil {
		return 0, err
	}
	memory := g.machine.Memory()
	if v == 0 || v+uint64(len(data)) > uint64(len(memory)) {
		return 0, fmt.Errorf("no memory for %d bytes", len(data))
	}
	copy(memory[v:], data)
	return uint32(v), nil
}

// stackEnd is where the stack of the science pack's module ends and its data begins.
const stackEnd = 16 << 20

// learnWords interrupts an interpreter that runs nothing, and looks what that writes.
func (g *guest) learnWords() (words [3]uint32, err error) {
	before := string(g.machine.Memory())
	if err := g.called("PyErr_SetInterruptEx", 2); err != nil {
		return words, err
	}
	memory := g.machine.Memory()
	found := 0
	for i := stackEnd; i+4 <= len(before); i += 4 {
		if before[i:i+4] == string(memory[i:i+4]) {
			continue
		}
		set := binary.LittleEndian.Uint32(memory[i:]) &^ binary.LittleEndian.Uint32([]byte(before[i:i+4]))
		if found < len(words) && set == interruptBits[found] {
			words[found] = uint32(i)
			found++
		} else {
			found = len(words) + 1
		}
	}
	copy(memory, before)
	if found != len(words) {
		return words, fmt.Errorf("an interrupt writes other words than it should")
	}
	return words, nil
}

// started deals with what the science pack asks for as it starts: to serve is to remember
// the driver's function; to read and to write is to do so with words of its memory, as types
// have fields that Python cannot set. The numbers that follow are addresses, before a value
// for one that is written.
func (g *guest) started(request []byte) bool {
	kind, data, _ := bytes.Cut(request, []byte{' '})
	numbers := make([]uint32, len(data)/4)
	_, _ = binary.Decode(data, binary.LittleEndian, numbers) // as many as are there
	switch memory := g.machine.Memory(); string(kind) {
	case "serve":
		g.engine.server = numbers[0]
	case "read":
		for _, at := range numbers {
			g.answer = append(g.answer, memory[at:at+4]...)
		}
	case "write":
		for pair := range slices.Chunk(numbers, 2) {
			binary.LittleEndian.PutUint32(memory[pair[0]:], pair[1])
		}
	default:
		return false
	}
	return true
}

// doorCall is what the module of the science pack imports for requests: it returns zero
// and writes where the answer is.
var doorCall = machine.Import{Module: "host", Name: "call", Params: "iiii", Result: true, Call: func(in *machine.Instance, args []uint64) uint32 {
	defer in.Look()
	g := in.Host.(*guest)
	g.request(uint32(args[0]), uint32(args[1]))
	answer := g.answer
	g.answer = nil
	at, err := g.put(answer)
	if err != nil {
		return none
	}
	memory := in.Memory()
	for i, v := range []uint32{at, uint32(len(answer))} {
		if to := args[2+i] & 0xffffffff; to+4 <= uint64(len(memory)) {
			binary.LittleEndian.PutUint32(memory[to:], v)
		}
	}
	return 0
}}
