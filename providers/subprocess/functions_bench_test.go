//go:build real && unix

package subprocess_test

import (
	"bufio"
	"context"
	"encoding/json"
	"net"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/providers/subprocess"
)

// BenchmarkFunctions measures a program that calls a function a thousand times, one after
// the other; the floor is a bare Python process that sends as many messages over
// the same kind of socket and gets them back.
func BenchmarkFunctions(b *testing.B) {
	echo := codeinterp.Function{Name: "echo", Call: func(_ context.Context, c codeinterp.FunctionCall) (json.RawMessage, error) { return c.Args, nil }}
	o := &codeinterp.RunOptions{Timeout: time.Minute, Functions: []codeinterp.Function{echo}}
	for _, l := range []struct {
		subprocess.Language
		code string
	}{
		{subprocess.Python(), "for i in range(1000): tools.echo(v=i)\ni"},
		{subprocess.JavaScript(), "var i = 0; for (; i < 999; i++) await tools.echo({ v: i }); (await tools.echo({ v: i })).v"},
	} {
		b.Run(l.Name, func(b *testing.B) {
			n := newNotebook(b, open(b, subprocess.Options{Languages: []subprocess.Language{l.Language}}), l.Name)
			p50 := median(b, echoes(b), func() {
				if res := n.run(l.code, o); summary(res) != "ok value=999" {
					b.Fatal(summary(res))
				}
			})
			b.ReportMetric(float64(p50.Microseconds())/1000, "µs/call")
		})
	}
}

// echoes returns what has a bare process make a thousand round trips over a
// socket.
func echoes(b *testing.B) func() {
	fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err != nil {
		b.Fatal(err)
	}
	ours, theirs := os.NewFile(uintptr(fds[0]), "ours"), os.NewFile(uintptr(fds[1]), "theirs")
	conn, err := net.FileConn(ours)
	if err != nil {
		b.Fatal(err)
	}
	ours.Close()
	b.Cleanup(func() { conn.Close() })
	go func() {
		buf := make([]byte, 4096)
		for {
			n, err := conn.Read(buf)
			if err != nil {
				return
			}
			if _, err := conn.Write(buf[:n]); err != nil {
				return
			}
		}
	}()
	cmd := exec.Command(systemPython, "-I", "-c", `
import os
while os.read(0, 100):
    for i in range(1000):
        os.write(3, b'{"v": 1}' * 6)
        os.read(3, 4096)
    os.write(1, b'done\n')`)
	cmd.ExtraFiles = []*os.File{theirs}
	in, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	theirs.Close()
	b.Cleanup(func() {
		in.Close()
		_ = cmd.Wait()
	})
	lines := bufio.NewReader(out)
	return func() {
		if _, err := in.Write([]byte("go\n")); err != nil {
			b.Fatal(err)
		}
		if _, err := lines.ReadString('\n'); err != nil {
			b.Fatal(err)
		}
	}
}
