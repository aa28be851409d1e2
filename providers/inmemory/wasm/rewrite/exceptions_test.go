package rewrite_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/tetratelabs/wazero"
	"github.com/toolcell/toolcell/providers/inmemory/wasm/rewrite"
)

// sized is a section of any size.
func sized(id int, list ...[]byte) []byte {
	body := bytes.Join(list, nil)
	n := len(body)
	head := []byte{byte(n)&0x7f | 0x80, byte(n>>7)&0x7f | 0x80, byte(n >> 14)}
	if id >= 0 {
		head = append([]byte{byte(id)}, head...)
	}
	return append(head, body...)
}

// module returns the program in the binary format. It exports the functions as a, b and
// so on.
func (p *program) module() []byte {
	n := byte(len(p.functions))
	types, exports, elements, bodies := []byte{n}, []byte{n}, []byte{1, 0, 0x41, 0, 0x0b, n}, []byte{n}
	for i, list := range p.functions {
		types = append(types, 1)
		exports = append(exports, 1, 'a'+byte(i), 0, imported+byte(i))
		elements = append(elements, imported+byte(i))
		e := &emitter{}
		e.ops(3, 1, 0x7f, 1, 0x69, 2, 0x7f, 0x20, 0, 0x21, number)
		e.all(list)
		e.ops(0x20, number, 0x0b)
		bodies = append(bodies, sized(-1, e.code)...)
	}
	return bytes.Join([][]byte{[]byte("\x00asm\x01\x00\x00\x00"),
		section(1, 5, 0x60, 0, 0, 0x60, 1, 0x7f, 1, 0x7f, 0x60, 2, 0x7f, 0x7f, 0, 0x60, 1, 0x7f, 0, 0x60, 0, 2, 0x7f, 0x69),
		section(2, 2, 1, 'h', 1, 'y', 0, 0, 1, 'h', 1, 't', 0, 2), sized(3, types), section(4, 1, 0x70, 0, n),
		section(13, 3, 0, 3, 0, 0, 0, 0), sized(7, exports), sized(9, elements), sized(10, bodies)}, nil)
}

// compare runs the functions of a program that was lowered, and the model.
func compare(t *testing.T, p *program) (caught int) {
	source := p.module()
	changed, err := rewrite.Module(source, "h.y")
	if err != nil {
		t.Fatalf("%v\n%x", err, source)
	}
	ctx := t.Context()
	rt := wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfigInterpreter())
	defer rt.Close(ctx)
	var got, want []string
	_, err = rt.NewHostModuleBuilder("h").NewFunctionBuilder().WithFunc(func() {}).Export("y").NewFunctionBuilder().
		WithFunc(func(id, v int32) { got = append(got, fmt.Sprint(id, v)) }).Export("t").Instantiate(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for i := range p.functions {
		m, err := rt.InstantiateWithConfig(ctx, changed.Code, wazero.NewModuleConfig().WithName(""))
		if err != nil {
			t.Fatalf("%v\n%x", err, source)
		}
		got, want = nil, nil
		v, r := p.call(int32(i), 7, &want)
		out, err := m.ExportedFunction(string(rune('a'+i))).Call(ctx, 7)
		pending := m.ExportedGlobal(rewrite.Pending).Get()
		wantPending := uint64(0)
		if r.kind == throws {
			v, wantPending = 0, uint64(r.tag)+1
		}
		if (err != nil) != (r.kind == traps) || err == nil && (int32(out[0]) != v || pending != wantPending) || !slices.Equal(got, want) {
			t.Fatalf("function %d: got %v, %v, exception %d, %v; want %d, %+v, %v\n%x", i, out, err, pending, got, v, r, want, source)
		}
		caught += len(got)
	}
	return caught
}

// TestExceptions: functions that throw and catch do what the model does.
func TestExceptions(t *testing.T) {
	seen := 0
	for seed := range uint64(400) {
		p := random(rand.New(rand.NewPCG(seed, 1)))
		p.functions[3] = slices.Repeat(p.functions[3], 1+9*int(seed%2)) // also with many calls
		seen += compare(t, p)
	}
	if seen < 400 {
		t.Errorf("%d traces", seen)
	}
}

// FuzzExceptions: as TestExceptions, of any seed.
func FuzzExceptions(f *testing.F) {
	f.Add(uint64(1), uint64(2))
	f.Fuzz(func(t *testing.T, a, b uint64) { compare(t, random(rand.New(rand.NewPCG(a, b)))) })
}

// TestExceptionsRefused: the older instructions for exceptions, and tags with other values,
// are refused.
func TestExceptionsRefused(t *testing.T) {
	whole := (&program{[][]node{{throw{0}}}}).module()
	if _, err := rewrite.Module(whole, "h.y"); err != nil {
		t.Fatal(err)
	}
	at := bytes.LastIndex(whole, []byte{0x08, 0})
	for name, op := range map[string][]byte{"try": {0x06, 0x40}, "catch": {0x07, 0}, "rethrow": {0x09, 0}, "delegate": {0x18, 0},
		"catch_all": {0x19, 1}, "return_call": {0x12, 0}, "an unknown tag": {0x08, 3}} {
		source := bytes.Clone(whole)
		copy(source[at:], op)
		if _, err := rewrite.Module(source, "h.y"); !errors.Is(err, rewrite.ErrModule) {
			t.Errorf("%s: got the error %v", name, err)
		}
	}
	source := bytes.Replace(whole, section(13, 3, 0, 3, 0, 0, 0, 0), section(13, 3, 0, 2, 0, 0, 0, 0), 1)
	if _, err := rewrite.Module(source, "h.y"); !errors.Is(err, rewrite.ErrModule) {
		t.Errorf("a tag with two values: got the error %v", err)
	}
}
