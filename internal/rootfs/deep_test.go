//go:build linux

package rootfs_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/toolcell/toolcell/internal/rootfs"
)

// A pit is a directory that gets deeper, beyond what any path reaches.
type pit struct {
	t  *testing.T
	fd int
}

func newPit(t *testing.T, dir string) *pit {
	fd, err := unix.Open(dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	p := &pit{t, fd}
	t.Cleanup(func() { unix.Close(p.fd) })
	return p
}

// down makes one level more, after a file in the last one.
func (p *pit) down(name string) {
	p.file("f")
	if err := unix.Mkdirat(p.fd, name, 0o755); err != nil {
		p.t.Fatal(err)
	}
	fd, err := unix.Openat(p.fd, name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		p.t.Fatal(err)
	}
	unix.Close(p.fd)
	p.fd = fd
}

func (p *pit) file(name string) {
	fd, err := unix.Openat(p.fd, name, unix.O_CREAT|unix.O_WRONLY|unix.O_CLOEXEC, 0o644)
	if err != nil {
		p.t.Fatal(err)
	}
	unix.Close(fd)
}

// TestArtifactsOfAPit: a scan reads 128 levels and reports that it left out the rest.
func TestArtifactsOfAPit(t *testing.T) {
	f, dir := open(t, nil, rootfs.Options{})
	p := newPit(t, dir)
	for round := range 3 {
		before := f.Snapshot(t.Context())
		for range 100 {
			p.down("d")
		}
		found, missing := f.Artifacts(t.Context(), before, false)
		for _, a := range found {
			if n := strings.Count(a.Path, "/"); n >= 128 {
				t.Fatalf("round %d: an artifact %d levels deep", round, n)
			}
		}
		if deep := round > 0; deep != (len(missing) > 0) {
			t.Errorf("round %d: %d found, %v missing", round, len(found), missing)
		}
	}
}

// TestArtifactsLongPaths: files whose paths are too long to open are counted and take
// no memory.
func TestArtifactsLongPaths(t *testing.T) {
	f, dir := open(t, nil, rootfs.Options{})
	p := newPit(t, dir)
	before := f.Snapshot(t.Context())
	for range 100 {
		p.down(strings.Repeat("x", 250))
	}
	const files = 4_000 // of 25 KB of path each
	for i := range files {
		p.file(fmt.Sprint("file", i))
	}
	var start, end runtime.MemStats
	runtime.ReadMemStats(&start)
	found, missing := f.Artifacts(t.Context(), before, false)
	runtime.ReadMemStats(&end)
	if end.HeapSys > start.HeapSys+64<<20 {
		t.Errorf("%d MB of memory", (end.HeapSys-start.HeapSys)>>20)
	}
	if len(missing) != 1 || missing[0].Files+len(found) != files+100 || len(found) != 17 {
		t.Errorf("%d found, %+v", len(found), missing)
	}
}
