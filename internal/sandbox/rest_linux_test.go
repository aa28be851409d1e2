//go:build real && (amd64 || arm64)

package sandbox_test

import (
	"io"
	"os"
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/sandbox"
)

// TestRest: a process that rests is not watched, and what it used counts once it
// wakes.
func TestRest(t *testing.T) {
	code := prelude + `
for i in range(3):
    if os.fork() == 0:
        while time.process_time() < 0.4: pass
        os._exit(0)
for i in range(3): os.wait()
print('done')
time.sleep(1000)
`
	nightly(t, func(t *testing.T, mode sandbox.Mode) {
		s := open(t, &sandbox.Options{Require: mode})
		dir := must(s.TempDir())
		defer s.Discard(dir)
		in, codeW := pipe(t)
		r, out := pipe(t)
		p, err := s.Start(&sandbox.Cmd{
			Path: python, Args: []string{"python3", "-I", "-u", "-"}, Workdir: dir,
			Env: s.Env(dir, nil, map[string]string{"H": "{}"}), Limits: sandbox.Limits{CPU: 1}, Files: []*os.File{in, out, out},
		})
		if err != nil {
			t.Fatal(err)
		}
		defer p.Kill()
		p.Rest()
		in.Close()
		out.Close()
		io.WriteString(codeW, code)
		codeW.Close()
		said := make([]byte, 5)
		if _, err := io.ReadFull(r, said); err != nil {
			t.Fatalf("%v: %+v", err, p.Wait())
		}
		select {
		case <-p.Done():
			t.Fatalf("ended with %+v", p.Wait())
		case <-time.After(500 * time.Millisecond):
		}
		p.Rest() // twice is once
		p.Wake()
		p.Wake()
		if exit := p.Wait(); exit.Cause != codeinterp.CauseCPU {
			t.Errorf("ended with %+v", exit)
		}
	})
}
