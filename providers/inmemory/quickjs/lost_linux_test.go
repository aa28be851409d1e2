//go:build !(386 || arm || s390x)

package quickjs

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/providers/inmemory/engine"
	"github.com/toolcell/toolcell/providers/inmemory/memfs"
	"golang.org/x/sys/unix"
)

// TestHostHasNoMemory: where the machine has no more memory, that is what a program
// that needs it says so, also where the engine breaks.
func TestHostHasNoMemory(t *testing.T) {
	const alone = "TOOLCELL_TEST_FULL_HOST"
	if os.Getenv(alone) == "" { // its limit is that of a process
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestHostHasNoMemory$")
		cmd.Env = append(os.Environ(), alone+"=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
		return
	}
	for _, c := range []struct{ name, code string }{
		{"heap", `const list = []; for (;;) list.push(new Array(1e4).fill(1))`},
		{"a large block", `new Uint8Array(1e8)`},
		{"stack", "const f = eval(`(n) => { let ${Array.from({ length: 5e3 }, (_, i) => 'v' + i)}; return n ? f(n - 1) + v0 : 0 }`); console.log('full'); f(1000)"},
	} {
		out := inFullHost(t, c.code)
		if out.Error == nil || out.Cause != codeinterp.CauseMemory || !strings.Contains(out.Error.Message, "this machine has no more") {
			t.Errorf("%s: %+v %v", c.name, out, out.Error)
		}
	}
}

// filling is a host that has no memory left once something was printed.
type filling struct {
	quiet
	full func()
}

func (f filling) Write(codeinterp.Kind, []byte) { f.full() }

// inFullHost runs code of which the host has little memory left, and what it
// printed something before.
func inFullHost(t *testing.T, code string) engine.Outcome {
	t.Helper()
	inst, err := New(nil).New(engine.Config{Limits: engine.Limits{Memory: 1 << 30, Stack: defaultStack}, Budget: noBudget{}, Files: memfs.New(nil), Cwd: "."})
	if err != nil {
		t.Fatal(err)
	}
	defer inst.Close()
	// What tells an error compiles patterns the first time, for which the host may have
	// no memory either.
	inst.Run(t.Context(), engine.Program{Name: "cell.js", Code: "function f() { null.x }; f()"}, quiet{})
	var before unix.Rlimit
	if err := unix.Prlimit(0, unix.RLIMIT_DATA, nil, &before); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = unix.Prlimit(0, unix.RLIMIT_DATA, &before, nil) }()
	full := func() {
		now := before
		now.Cur = writable(t) + 16<<20
		if err := unix.Prlimit(0, unix.RLIMIT_DATA, &now, nil); err != nil {
			t.Error(err)
		}
	}
	if !strings.Contains(code, "console") {
		full()
	}
	return inst.Run(t.Context(), engine.Program{Name: "cell.js", Code: code}, filling{full: full})
}

// writable is how much of what RLIMIT_DATA counts this process has.
func writable(t *testing.T) uint64 {
	b, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := bytes.Cut(b, []byte("VmData:"))
	var kib uint64
	if _, err := fmt.Sscan(string(rest), &kib); err != nil {
		t.Fatal(err)
	}
	return kib << 10
}
