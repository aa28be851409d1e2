package rmtree

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// deep makes a tree of so many levels, with two files in each of them, and
// modes that forbid to list it.
func deep(t *testing.T, dir string, levels int) {
	t.Helper()
	fd, err := unix.Open(dir, unix.O_RDONLY|unix.O_DIRECTORY, 0)
	for i := 0; i < levels && err == nil; i++ {
		var f int
		if f, err = unix.Openat(fd, "f", unix.O_CREAT|unix.O_WRONLY, 0o600); err == nil {
			unix.Close(f)
			err = unix.Mkdirat(fd, "d", 0o700)
		}
		next := -1
		if err == nil {
			next, err = unix.Openat(fd, "d", unix.O_RDONLY|unix.O_DIRECTORY, 0)
		}
		if i%7 == 0 {
			_ = unix.Fchmod(fd, 0o300)
		}
		unix.Close(fd)
		fd = next
	}
	if err != nil {
		t.Fatal(err)
	}
	unix.Close(fd)
}

// fewDescriptors leaves the process only some descriptors more than it has.
func fewDescriptors(t *testing.T, more int) {
	t.Helper()
	list, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	var old unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &old); err != nil {
		t.Fatal(err)
	}
	low := old
	low.Cur = uint64(len(list) + more)
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &low); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Setrlimit(unix.RLIMIT_NOFILE, &old) })
}

func TestDeepTree(t *testing.T) {
	const levels = 1000
	dir := filepath.Join(t.TempDir(), "w")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/usr", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	deep(t, dir, levels)
	fewDescriptors(t, 10)
	if err := RemoveAll(dir); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(dir); err == nil {
		t.Error("it is still there")
	}
	if err := RemoveAll(dir); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat("/usr/bin"); err != nil {
		t.Fatal(err)
	}
}
