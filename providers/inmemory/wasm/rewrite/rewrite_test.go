package rewrite_test

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"
	"github.com/toolcell/toolcell/providers/inmemory/wasm/rewrite"
)

// section returns a section of a module.
func section(id byte, body ...byte) []byte { return append([]byte{id, byte(len(body))}, body...) }

// module is one that exports f, of the type (i32, i32, i32) -> (), with 65 pages of memory.
func module(code ...byte) []byte {
	body := append([]byte{0}, code...)
	return bytes.Join([][]byte{[]byte("\x00asm\x01\x00\x00\x00"),
		section(1, 2, 0x60, 0, 0, 0x60, 3, 0x7f, 0x7f, 0x7f, 0),
		section(2, 1, 1, 'h', 1, 'y', 0, 0),
		section(3, 1, 1),
		section(5, 1, 0, 65),
		section(7, 2, 1, 'f', 0, 1, 1, 'm', 2, 0),
		section(10, append([]byte{1, byte(len(body))}, body...)...),
		section(11, 1, 0, 0x41, 8, 0x0b, 3, 'a', 'b', 'c'),
	}, nil)
}

var (
	copies = []byte{0x20, 0, 0x20, 1, 0x20, 2, 0xfc, 10, 0, 0, 0x0b}
	fills  = []byte{0x20, 0, 0x20, 1, 0x20, 2, 0xfc, 11, 0, 0x0b}
	spins  = []byte{0x03, 0x40, 0x0c, 0, 0x0b, 0x0b} // loop; br 0; end
)

func changed(t testing.TB, source []byte) *rewrite.Result {
	t.Helper()
	r, err := rewrite.Module(source, "h.y")
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// start compiles and starts a module whose import calls yield.
func start(t *testing.T, module []byte, yield func()) api.Module {
	t.Helper()
	ctx := context.Background()
	rt := wazero.NewRuntime(ctx)
	t.Cleanup(func() { rt.Close(ctx) })
	_, err := rt.NewHostModuleBuilder("h").NewFunctionBuilder().WithFunc(yield).Export("y").Instantiate(ctx)
	if err != nil {
		t.Fatal(err)
	}
	m, err := rt.Instantiate(ctx, module)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// TestLoopYields: code that computes for ever is stopped by a panic of the host.
func TestLoopYields(t *testing.T) {
	over, yields := errors.New("over"), 0
	m := start(t, changed(t, module(spins...)).Code, func() {
		if yields++; yields == 10 {
			panic(over)
		}
	})
	if _, err := m.ExportedFunction("f").Call(t.Context(), 0, 0, 0); !errors.Is(err, over) {
		t.Fatalf("got the error %v", err)
	}
}

// TestData: the data of the module is in the result and no longer in the code.
func TestData(t *testing.T) {
	r := changed(t, module(spins...))
	if len(r.Data) != 1 || r.Data[0].Offset != 8 || string(r.Data[0].Data) != "abc" || bytes.Contains(r.Code, []byte("abc")) {
		t.Errorf("got %+v", r.Data)
	}
	if r.Memory != 65<<16 {
		t.Errorf("a memory of %d bytes", r.Memory)
	}
}

// TestBulk: copies and fills of all lengths and overlaps do what they did, and yield.
func TestBulk(t *testing.T) {
	for name, code := range map[string][]byte{"copy": copies, "fill": fills} {
		t.Run(name, func(t *testing.T) {
			yields := 0
			plain, own := start(t, module(code...), func() {}), start(t, changed(t, module(code...)).Code, func() { yields++ })
			a, _ := plain.Memory().Read(0, plain.Memory().Size())
			b, _ := own.Memory().Read(0, own.Memory().Size())
			for i := range a {
				a[i] = byte(rand.Uint32())
			}
			copy(b, a)
			large, near := uint32(len(a)), uint32(3<<20)
			for i := range 60 {
				args := []uint64{uint64(rand.Uint32N(large)), uint64(rand.Uint32N(large)), uint64(rand.Uint32N(large / 2))}
				if i%3 == 0 { // they overlap
					args = []uint64{uint64(rand.Uint32N(100)), uint64(rand.Uint32N(100)), uint64(near)}
				}
				_, want := plain.ExportedFunction("f").Call(t.Context(), args...)
				_, err := own.ExportedFunction("f").Call(t.Context(), args...)
				if (want == nil) != (err == nil) {
					t.Fatalf("%v: got the error %v, want %v", args, err, want)
				}
				if err != nil { // a part may have been done
					copy(b, a)
				} else if !bytes.Equal(a, b) {
					t.Fatalf("%v: other bytes", args)
				}
			}
			if yields == 0 {
				t.Error("no yield")
			}
		})
	}
}

// TestRefused: what is damaged or not known is refused.
func TestRefused(t *testing.T) {
	whole := module(spins...)
	cases := map[string][]byte{
		"empty": nil, "no module": []byte("#!/bin/sh"), "an atomic load": module(0xfe, 0x10, 2, 0, 0x0b), "a throw": module(0x08, 0, 0x0b),
		"memory.init": module(0x20, 0, 0x20, 1, 0x20, 2, 0xfc, 8, 0, 0, 0x0b), "no end": module(0x03, 0x40, 0x0c, 0, 0x0b),
		"a start function": append(bytes.Clone(whole), section(8, 1)...), "no yield": bytes.Replace(whole, []byte{'y'}, []byte{'z'}, 1),
		"data outside":  bytes.Replace(whole, []byte{0x41, 8, 0x0b}, []byte{0x41, 0x7f, 0x0b}, 1),
		"another order": append(bytes.Clone(whole), section(1, 0)...),
	}
	for name, source := range cases {
		if _, err := rewrite.Module(source, "h.y"); !errors.Is(err, rewrite.ErrModule) {
			t.Errorf("%s: got the error %v", name, err)
		}
	}
	for i := range 20 { // behind them the yield is imported, and sections may be absent
		if _, err := rewrite.Module(whole[:i], "h.y"); !errors.Is(err, rewrite.ErrModule) {
			t.Errorf("cut at %d: got the error %v", i, err)
		}
	}
}

// FuzzModule: no source makes it panic, and what it makes of a valid module is valid.
func FuzzModule(f *testing.F) {
	for _, code := range [][]byte{spins, copies, fills} {
		f.Add(module(code...))
	}
	for seed := range uint64(20) {
		f.Add(random(rand.New(rand.NewPCG(seed, 2))).module())
	}
	ctx := context.Background()
	rt := wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfigInterpreter().
		WithCoreFeatures(api.CoreFeaturesV2|experimental.CoreFeaturesExceptionHandling))
	f.Fuzz(func(t *testing.T, source []byte) {
		r, err := rewrite.Module(source, "h.y")
		if err != nil {
			return
		}
		m, err := rt.CompileModule(ctx, source)
		if err != nil {
			return
		}
		m.Close(ctx)
		if m, err = rt.CompileModule(ctx, r.Code); err != nil {
			t.Fatalf("a valid module became invalid: %v", err)
		}
		m.Close(ctx)
	})
}
