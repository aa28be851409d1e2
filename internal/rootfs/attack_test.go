//go:build unix

package rootfs_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/rootfs"
)

// TestOutside: links that lead out, FIFOs and sockets are refused, and nothing
// waits for them.
func TestOutside(t *testing.T) {
	for name, u := range users(t) {
		f, dir := open(t, u, rootfs.Options{})
		secret := filepath.Join(t.TempDir(), "secret")
		_ = os.WriteFile(secret, []byte("secret"), 0o644)
		_ = os.Symlink(secret, filepath.Join(dir, "link"))
		_ = os.Symlink(filepath.Dir(secret), filepath.Join(dir, "out"))
		_ = unix.Mkfifo(filepath.Join(dir, "fifo"), 0o666)
		_ = os.Chmod(filepath.Join(dir, "fifo"), 0o666) // past the umask
		hardLinked := os.Link(secret, filepath.Join(dir, "hard")) == nil
		for _, tt := range []struct {
			path string
			want error
		}{{"link", codeinterp.ErrOutside}, {"out/secret", codeinterp.ErrOutside}, {"out/new", codeinterp.ErrOutside}, {"fifo", codeinterp.ErrSpecial}} {
			_, err := fs.ReadFile(f, tt.path)
			if !errors.Is(err, tt.want) {
				t.Errorf("%s: reading %s: %v", name, tt.path, err)
			}
			err = codeinterp.WriteFile(f, tt.path, strings.NewReader("x"), 0o644)
			if !errors.Is(err, tt.want) {
				t.Errorf("%s: writing %s: %v", name, tt.path, err)
			}
		}
		if u != nil && hardLinked {
			_, err1 := fs.ReadFile(f, "hard")
			err2 := codeinterp.WriteFile(f, "hard", strings.NewReader("x"), 0o644)
			if !errors.Is(err1, codeinterp.ErrSpecial) || err2 == nil {
				t.Errorf("%s: another's file by a hard link: %v, %v", name, err1, err2)
			}
		}
		if b, err := os.ReadFile(secret); string(b) != "secret" || err != nil {
			t.Errorf("%s: the file outside is %q, %v", name, b, err)
		}
	}
}

// TestOwner: what a root host makes belongs to the programs' user.
func TestOwner(t *testing.T) {
	u := users(t)["other"]
	if u == nil {
		t.Skip("the host is not root")
	}
	f, dir := open(t, u, rootfs.Options{})
	if err := errors.Join(f.Mkdir("d", 0o700), codeinterp.WriteFile(f, "d/f", strings.NewReader("x"), 0o600)); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"d", "d/f"} {
		var st unix.Stat_t
		if err := unix.Lstat(filepath.Join(dir, name), &st); err != nil || int(st.Uid) != u.UID || int(st.Gid) != u.GID {
			t.Errorf("%s: owner %d, %v", name, st.Uid, err)
		}
	}
	_ = os.WriteFile(filepath.Join(dir, "roots"), []byte("x"), 0o600)
	if _, err := fs.ReadFile(f, "roots"); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("reading what the user may not: %v", err)
	}
}

// TestRace reads, writes and removes beneath a directory that turns into a link
// out and back all the time.
func TestRace(t *testing.T) {
	for name, u := range users(t) {
		f, dir := open(t, u, rootfs.Options{})
		outside := t.TempDir()
		_ = os.WriteFile(filepath.Join(outside, "a"), []byte("secret"), 0o666)
		_ = os.Chmod(outside, 0o777)
		_ = os.Mkdir(filepath.Join(dir, "real"), 0o777)
		_ = os.Chmod(filepath.Join(dir, "real"), 0o777)
		_ = os.Symlink(outside, filepath.Join(dir, "evil"))
		stop := make(chan struct{})
		var wg sync.WaitGroup
		wg.Go(func() {
			d, swap := filepath.Join(dir, "d"), []string{filepath.Join(dir, "real"), filepath.Join(dir, "evil")}
			for i := 0; ; i++ {
				select {
				case <-stop:
					return
				default:
				}
				_ = os.Rename(swap[i%2], d)
				_ = os.Rename(d, swap[i%2])
			}
		})
		for range 2000 {
			if b, err := fs.ReadFile(f, "d/a"); err == nil && string(b) == "secret" {
				t.Fatalf("%s: read outside", name)
			}
			_ = codeinterp.WriteFile(f, "d/a", strings.NewReader("inside"), 0o644)
			_ = codeinterp.WriteFile(f, "d/b", strings.NewReader("inside"), 0o644)
			_ = f.Rename("d/b", "d/c")
			_ = f.Mkdir("d/e", 0o755)
			_ = f.RemoveAll("d/a")
		}
		close(stop)
		wg.Wait()
		list, err := os.ReadDir(outside)
		if b, _ := os.ReadFile(filepath.Join(outside, "a")); len(list) != 1 || string(b) != "secret" || err != nil {
			t.Errorf("%s: outside has %v, %q, %v", name, list, b, err)
		}
	}
}
