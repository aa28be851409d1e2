//go:build unix

package rootfs_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/rootfs"
)

// TestArtifactsHostile: what is no file is named and not waited for, what is
// deep or much is reported as left out.
func TestArtifactsHostile(t *testing.T) {
	for name, u := range users(t) {
		f, dir := open(t, u, rootfs.Options{})
		before := f.Snapshot(t.Context())
		mine := func(path string) {
			if u != nil {
				_ = os.Lchown(path, u.UID, u.GID)
			}
		}
		write := func(name string, mode os.FileMode) {
			_ = os.WriteFile(filepath.Join(dir, name), []byte("x"), mode)
			mine(filepath.Join(dir, name))
		}
		_ = os.Symlink("/etc/passwd", filepath.Join(dir, "link"))
		_ = unix.Mkfifo(filepath.Join(dir, "fifo"), 0o666)
		_ = os.Mkdir(filepath.Join(dir, "closed"), 0o755)
		write("not\xffutf8", 0o644)
		write("not\xfeutf8", 0o644)
		write("secret", 0)
		write("closed/file", 0o644)
		mine(filepath.Join(dir, "closed"))
		_ = os.Chmod(filepath.Join(dir, "closed"), 0o300)
		found, missing := f.Artifacts(t.Context(), before, false)
		var got []string
		for _, a := range found {
			name := a.Path
			if a.Escaped {
				name, _ = strconv.Unquote(`"` + name + `"`)
			}
			got = append(got, fmt.Sprintf("%s: %d %s", name, len(a.SHA256), a.Skipped))
		}
		want := []string{"closed: 0 permission denied", "fifo: 0 FIFO", "link: 0 symbolic link", "not\xfeutf8: 64 ", "not\xffutf8: 64 ", "secret: 0 permission denied"}
		if u == nil && os.Geteuid() == 0 { // who may read all
			want[0], want[5] = "closed/file: 64 ", "secret: 64 "
		}
		if !slices.Equal(got, want) || missing != nil {
			t.Errorf("%s: found %q, %v", name, got, missing)
		}
		_ = os.Chmod(filepath.Join(dir, "closed"), 0o700)
	}
}

// TestArtifactsMany has more files than are listed, of which the first by path
// are, and stops when ctx ends.
func TestArtifactsMany(t *testing.T) {
	f, dir := open(t, nil, rootfs.Options{})
	before := f.Snapshot(t.Context())
	const more = codeinterp.MaxArtifacts + 10
	var names []string
	for i := range codeinterp.MaxArtifacts + more {
		name := strconv.Itoa(i)
		if i%100 == 0 {
			name += "/f" // in a directory, which is looked at behind all files
			_ = os.Mkdir(filepath.Join(dir, strconv.Itoa(i)), 0o755)
		}
		_ = os.WriteFile(filepath.Join(dir, name), []byte("12"), 0o644)
		names = append(names, name)
	}
	slices.Sort(names)
	found, missing := f.Artifacts(t.Context(), before, false)
	want := codeinterp.Truncation{Stream: "artifacts", Bytes: 2 * (codeinterp.MaxArtifacts + more), Kept: 2 * codeinterp.MaxArtifacts, Files: more, Reason: codeinterp.TruncatedByLimit}
	if len(found) != codeinterp.MaxArtifacts || len(missing) != 1 || missing[0] != want {
		t.Errorf("%d found, %+v missing", len(found), missing)
	}
	for i, a := range found {
		if a.Path != names[i] {
			t.Fatalf("%d is %s, want %s", i, a.Path, names[i])
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if found, missing := f.Artifacts(ctx, before, false); len(found) != 0 || len(missing) != 1 || missing[0].Bytes != -1 {
		t.Errorf("stopped: %d found, %v missing", len(found), missing)
	}
}

// TestArtifactsRace looks for files while directories and files turn into links
// out and back all the time.
func TestArtifactsRace(t *testing.T) {
	for name, u := range users(t) {
		f, dir := open(t, u, rootfs.Options{})
		outside := t.TempDir()
		_ = os.WriteFile(filepath.Join(outside, "a"), []byte("secret"), 0o666)
		_ = os.Chmod(outside, 0o777)
		before := f.Snapshot(t.Context())
		for _, d := range []string{"real", "d"} {
			_ = os.Mkdir(filepath.Join(dir, d), 0o755)
			_ = os.WriteFile(filepath.Join(dir, d, "a"), []byte("inside"), 0o644)
		}
		_ = os.Symlink(outside, filepath.Join(dir, "evil"))
		_ = os.Symlink(filepath.Join(outside, "a"), filepath.Join(dir, "evilfile"))
		stop := make(chan struct{})
		var wg sync.WaitGroup
		wg.Go(func() {
			swap := func(a, b string) {
				_ = os.Rename(filepath.Join(dir, a), filepath.Join(dir, "aside"))
				_ = os.Rename(filepath.Join(dir, b), filepath.Join(dir, a))
				_ = os.Rename(filepath.Join(dir, "aside"), filepath.Join(dir, b))
			}
			for {
				select {
				case <-stop:
					return
				default:
					swap("d", "evil")
					swap("real/a", "evilfile")
				}
			}
		})
		for range 500 {
			found, _ := f.Artifacts(t.Context(), before, true)
			for _, a := range found {
				if a.Skipped == "" && string(a.Data) != "inside" {
					t.Fatalf("%s: read %q by %s", name, a.Data, a.Path)
				}
			}
		}
		close(stop)
		wg.Wait()
	}
}
