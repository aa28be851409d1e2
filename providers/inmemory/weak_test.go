package inmemory_test

import (
	"testing"

	"github.com/toolcell/toolcell/codeinterp"
)

// TestWeakMemory makes weak references to more than there is memory for, and
// then uses memory that nothing weak may hold.
func TestWeakMemory(t *testing.T) {
	s := open(t, nil)
	for _, code := range []string{
		`const r = []; for (let i = 0; i < 1000; i++) r.push(new WeakRef({ d: new Uint8Array(1 << 20) })); r.at(-1).deref().d.length`,
		`const f = new FinalizationRegistry(() => {}); for (let i = 0; i < 1000; i++) f.register({ d: new Uint8Array(1 << 20) }, i); 1 << 20`,
		`const r = []; for (let i = 0; i < 30; i++) r.push(new WeakRef(new Uint8Array(1 << 20))); const k = []; for (let i = 0; i < 400; i++) { k[i % 200] = null; k[i % 200] = new Uint8Array(1 << 18) } 1 << 20`,
	} {
		if res, err := s.RunCode(t.Context(), "javascript", code, nil); err != nil || !res.OK() || res.Text() != "1048576" {
			t.Errorf("%s: %s %v %v", code, res.Text(), res.Error, err)
		}
	}
}

// TestOwnStack has the stack of an error be what the program says.
func TestOwnStack(t *testing.T) {
	const code = `const e = new Error("a"); delete e.stack; e.stack = "x"
		const f = new Error("a"); delete f.stack; Object.defineProperty(f, "stack", { value: "y", writable: true, configurable: true })
		class G extends Error { constructor() { super("m"); delete this.stack; this.stack = "z" } }
		e.stack + f.stack + new G().stack`
	if res, err := open(t, nil).RunCode(t.Context(), "javascript", code, nil); err != nil || res.Text() != "xyz" {
		t.Error(res.Text(), res.Error, err)
	}
}

// TestValueStays has a program whose last value is known change it, or fail,
// in what it has started.
func TestValueStays(t *testing.T) {
	s := open(t, nil)
	for code, want := range map[string]string{
		"setTimeout(() => { throw 1 }, 2); 5":                        "5",
		"setTimeout(() => { throw 1 }, 2); await 5":                  "5",
		"setTimeout(() => { throw 1 }, 2); (async () => 6)()":        "6",
		"setTimeout(() => { throw 1 }, 2); new Promise(() => {})":    "",
		"const p = new Promise((r) => setTimeout(() => r(7), 1)); p": "7",
		"await null; new Promise((r) => setTimeout(() => r(8), 1))":  "8",
		"const o = { a: 1 }; setTimeout(() => { o.a = 2 }, 2); o":    "{ a: 1 }",
		"Promise.reject(new Error('x')); 9":                          "9",
		"setTimeout(() => process.exit(3), 2); 10":                   "10",
		"process.on('exit', () => { throw 2 }); 11":                  "11",
		"throw 1; 12":                 "",
		"await Promise.reject(1); 13": "",
		"Promise.reject(1)":           "",
		"setTimeout(() => { throw 1 }, 2); setTimeout(() => {}, 1e9); [14].at": "[Function: at]",
	} {
		res, err := s.RunCode(t.Context(), "javascript", code, &codeinterp.RunOptions{})
		if err != nil || res.Text() != want {
			t.Errorf("%s: got %q, %s, %v, want %q", code, res.Text(), res.Status, err, want)
		}
	}
}
