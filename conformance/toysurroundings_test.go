package conformance

import (
	"os/exec"
	"strings"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/providers/inmemory/memfs"
)

func readAll(m *machine, r *toyRun, c command) error {
	text := m.stdin
	m.stdin = ""
	return write(r, codeinterp.Stdout, "["+text+"]\n")
}

func readLine(m *machine, r *toyRun, c command) error {
	if m.stdin == "" {
		return fail("EOFError", "no standard input", c)
	}
	line, rest, _ := strings.Cut(m.stdin, "\n")
	m.stdin = rest
	return write(r, codeinterp.Stdout, "["+line+"]\n")
}

func getenv(m *machine, r *toyRun, c command) error {
	v, ok := m.env[c.args[0]]
	if !ok {
		v = "<unset>"
	}
	return write(r, codeinterp.Stdout, v+"\n")
}

func read(m *machine, r *toyRun, c command) error {
	v, err := m.files.ReadFile(memfs.Clean("", c.args[0]))
	if err != nil {
		return fail("FileError", "no file "+c.args[0], c)
	}
	return write(r, codeinterp.Stdout, string(v))
}

func writeFile(m *machine, r *toyRun, c command) error {
	if err := m.files.WriteFile(memfs.Clean("", c.args[0]), []byte(c.args[1])); err != nil {
		return fail("FileError", err.Error(), c)
	}
	return nil
}

// unreachable is what a toy has no way to.
func unreachable(m *machine, r *toyRun, c command) error {
	return fail("ReachError", c.name+" "+c.args[0], c)
}

func appendForever(m *machine, r *toyRun, c command) error {
	for r.pause(10 * time.Millisecond) {
		_ = m.files.AppendFile(memfs.Clean("", c.args[0]), []byte("."))
	}
	return r.interrupted(c)
}

func child(m *machine, r *toyRun, c command) error {
	cmd := exec.Command("sleep", c.args[0])
	if err := cmd.Start(); err != nil {
		return fail("ProcessError", err.Error(), c)
	}
	m.children = append(m.children, cmd)
	return nil
}

// late prints after a while, into the run in progress or for the next one.
func late(m *machine, r *toyRun, c command) error {
	gone := m.gone
	m.late.Go(func() {
		select {
		case <-gone:
			return
		case <-time.After(duration(c.args[1])):
		}
		m.mu.Lock()
		defer m.mu.Unlock()
		o := codeinterp.Output{Kind: codeinterp.Stdout, Data: []byte(c.args[0]), Late: m.run != r}
		if m.run == nil {
			m.o.Late(o)
			return
		}
		m.run.out.Add(o)
	})
	return nil
}
