//go:build real && full && (amd64 || arm64)

package sandbox_test

import (
	"io"
	"os"
	"strings"
	"testing"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/sandbox"
)

// TestAhead: what a process uses before it is woken, of what it may use ahead, takes
// nothing from its limits, and adds nothing to them.
func TestAhead(t *testing.T) {
	const ahead = `
held = b'x' * (60 << 20)
while time.process_time() < 1.2: pass
print('ready', flush=True)
sys.stdin.readline()
`
	for _, tt := range []struct {
		code  string
		cause codeinterp.Cause
		says  string
	}{
		{"end = time.process_time() + 0.5\nwhile time.process_time() < end: pass\nmore = b'x' * (20 << 20)\nprint('done')", "", "done\n"},
		{"while True: pass", codeinterp.CauseCPU, "limit 1s"},
		{"more = []\nfor i in range(20):\n  try: more.append(b'x' * (10 << 20))\n  except MemoryError: print('no', i < 5); break", "", "no True\n"},
	} {
		t.Run(tt.code, func(t *testing.T) {
			eachMode(t, func(t *testing.T, mode sandbox.Mode) {
				s := open(t, &sandbox.Options{Require: mode})
				start := func(limits sandbox.Limits, may sandbox.Ahead) (p *sandbox.Process, in, out *os.File) {
					dir := must(s.TempDir())
					t.Cleanup(func() { s.Discard(dir) })
					theirs, in := pipe(t)
					out, ours := pipe(t)
					p, err := s.Start(&sandbox.Cmd{
						Path: python, Args: []string{"python3", "-I", "-u", "-c", "import sys, time\n" + ahead + tt.code}, Workdir: dir,
						Env: s.Env(dir, nil, nil), Limits: limits, Ahead: may, Files: []*os.File{theirs, ours, ours},
					})
					if err != nil {
						t.Fatal(err)
					}
					t.Cleanup(func() { p.Kill(); p.Wait() })
					theirs.Close()
					ours.Close()
					p.Rest()
					if _, err := io.ReadFull(out, make([]byte, len("ready\n"))); err != nil {
						t.Fatalf("%v: %+v", err, p.Wait())
					}
					return p, in, out
				}
				first, _, _ := start(sandbox.Limits{CPU: -1, Memory: -1}, sandbox.Ahead{})
				took := first.Ahead()
				first.Kill()
				if took.CPU < 2 || took.Memory < 60<<20 || took.Data < took.Memory/2 || took.Data > 1<<30 {
					t.Fatalf("took %+v", took)
				}
				took.CPU += 10 // the kernel's own limit, which says less
				p, in, out := start(sandbox.Limits{CPU: 1, Memory: 40 << 20}, took)
				p.Wake()
				io.WriteString(in, "\n")
				said, _ := io.ReadAll(out)
				exit := p.Wait()
				if exit.Cause != tt.cause || !strings.Contains(string(said)+exit.Detail, tt.says) {
					t.Errorf("%+v, said %q", exit, said)
				}
			})
		})
	}
}
