//go:build real

package sandbox_test

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/toolcell/toolcell/internal/sandbox"
)

func Example() {
	s, err := sandbox.New(&sandbox.Options{AllowNone: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Close()
	dir, err := s.TempDir()
	if err != nil {
		fmt.Println(err)
		return
	}
	r, w, err := os.Pipe()
	if err != nil {
		fmt.Println(err)
		return
	}
	p, err := s.Start(&sandbox.Cmd{
		Path: "/bin/sh", Args: []string{"sh", "-c", "echo hello; exit 3"},
		Env: s.Env(dir, nil, nil), Workdir: dir, Files: []*os.File{nil, w, w},
	})
	w.Close()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer time.AfterFunc(time.Minute, p.Kill).Stop()
	out, _ := io.ReadAll(r)
	fmt.Printf("%s%d\n", out, p.Wait().Code)
	// Output:
	// hello
	// 3
}
