//go:build unix

package rootfs_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/rootfs"
)

// A tree does to files what a sequence of bytes says, and knows which of them
// are to be found.
type tree struct {
	dir   string
	files map[string]*node
	dirs  []string // "" is the directory itself
	next  int
}

type node struct{ changed bool }

// do performs one change. a and b choose the files.
func (m *tree) do(op, a, b byte) {
	name, n := m.pick(a)
	path := filepath.Join(m.dir, name)
	m.next++
	fresh := m.dirs[int(b)%len(m.dirs)] + "f" + strconv.Itoa(m.next)
	switch op % 11 {
	case 0, 1:
		_ = os.WriteFile(filepath.Join(m.dir, fresh), []byte(fresh), 0o644)
		m.files[fresh] = &node{changed: true}
	case 2:
		if len(m.dirs) < 8 {
			sub := fmt.Sprintf("%sd%d/", m.dirs[int(b)%len(m.dirs)], m.next)
			_ = os.Mkdir(filepath.Join(m.dir, sub), 0o755)
			m.dirs = append(m.dirs, sub)
		}
	case 3:
		m.renameDir(a, b)
	}
	if n == nil {
		return
	}
	switch op % 11 {
	case 4: // other bytes of the same size, and the times that it had
		m.keepingTimes(path, func(text []byte) []byte { return bytes.ToUpper(append([]byte("x"), text[1:]...)) })
		n.changed = true
	case 5:
		m.keepingTimes(path, func(text []byte) []byte { return append(text, 'y') })
		n.changed = true
	case 6:
		_ = os.Rename(path, filepath.Join(m.dir, fresh))
		delete(m.files, name)
		m.files[fresh] = n
		n.changed = true
	case 7:
		_ = os.Chtimes(path, time.Unix(1e9, 0), time.Unix(1e9, 0))
		n.changed = true
	case 8:
		_ = os.Remove(path)
		delete(m.files, name)
		n.changed = true // for its other names
	case 9:
		_ = os.Link(path, filepath.Join(m.dir, fresh))
		m.files[fresh] = n
		n.changed = true
	case 10: // another file takes its place
		if other, o := m.pick(b); o != n {
			_ = os.Rename(path, filepath.Join(m.dir, other))
			delete(m.files, name)
			m.files[other] = n
			n.changed, o.changed = true, true
		}
	}
}

// pick returns one of the files.
func (m *tree) pick(a byte) (string, *node) {
	names := slices.Sorted(maps.Keys(m.files))
	if len(names) == 0 {
		return "", nil
	}
	name := names[int(a)%len(names)]
	return name, m.files[name]
}

func (m *tree) keepingTimes(path string, change func([]byte) []byte) {
	info, err := os.Stat(path)
	text, err2 := os.ReadFile(path)
	if err != nil || err2 != nil {
		return
	}
	_ = os.WriteFile(path, change(text), 0o644)
	_ = os.Chtimes(path, info.ModTime(), info.ModTime())
}

func (m *tree) renameDir(a, b byte) {
	from := m.dirs[int(a)%len(m.dirs)]
	if from == "" {
		return
	}
	to := fmt.Sprintf("e%d/", m.next)
	_ = os.Rename(filepath.Join(m.dir, from), filepath.Join(m.dir, to))
	for i, d := range m.dirs {
		if rest, ok := strings.CutPrefix(d, from); ok {
			m.dirs[i] = to + rest
		}
	}
	moved := map[string]*node{}
	for name, n := range m.files {
		if rest, ok := strings.CutPrefix(name, from); ok {
			name = to + rest
		}
		moved[name] = n
	}
	m.files = moved
}

// FuzzArtifacts: nothing that was done to a file is missed, nothing else is
// listed, and what is told of it is true. Each round is a run.
func FuzzArtifacts(f *testing.F) {
	f.Add([]byte("\x00\x00\x00\x02\x00\x00\x00\x00\x01|\x04\x00\x00|\x05\x01\x00\x07\x01\x01|\x03\x01\x00|\x08\x00\x00\x06\x00\x00"))
	f.Add([]byte("\x00\x00\x00\x01\x00\x00\x09\x00\x00|\x04\x01\x00|\x0a\x00\x01|\x04\x00\x00"))
	f.Add([]byte("|\x02\x00\x00\x02\x00\x01\x00\x00\x02\x00\x00\x01|\x03\x01\x00|\x03\x02\x00\x03\x01\x00|\x06\x00\x02\x06\x00\x00"))
	f.Add(bytes.Repeat([]byte("\x00\x00\x00\x00\x00\x00\x04\x00\x00|\x04\x00\x00|"), 5))
	f.Fuzz(func(t *testing.T, program []byte) {
		if len(program) > 600 {
			return
		}
		dir := t.TempDir()
		root, err := os.OpenRoot(dir)
		if err != nil {
			t.Fatal(err)
		}
		fsys := rootfs.New(root, nil)
		defer fsys.Close()
		m := &tree{dir: dir, files: map[string]*node{}, dirs: []string{""}}
		for round := range bytes.SplitSeq(program, []byte("|")) {
			before := maps.Clone(m.files)
			for _, n := range m.files {
				n.changed = false
			}
			snapshot := fsys.Snapshot(t.Context())
			for ; len(round) >= 3; round = round[3:] {
				m.do(round[0], round[1], round[2])
			}
			found, missing := fsys.Artifacts(t.Context(), snapshot, true)
			if missing != nil {
				t.Errorf("missing %v", missing)
			}
			var want []string
			for _, name := range slices.Sorted(maps.Keys(m.files)) {
				if n := m.files[name]; n.changed || before[name] != n {
					want = append(want, name)
				}
			}
			m.compare(t, found, want)
		}
	})
}

func (m *tree) compare(t *testing.T, found []codeinterp.Artifact, want []string) {
	t.Helper()
	var got []string
	for _, a := range found {
		got = append(got, a.Path)
		text, err := os.ReadFile(filepath.Join(m.dir, a.Path))
		sum := sha256.Sum256(text)
		if err != nil || a.Size != int64(len(text)) || a.SHA256 != hex.EncodeToString(sum[:]) || !bytes.Equal(a.Data, text) || a.Skipped != "" {
			t.Errorf("%+v of %q, %v", a, text, err)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("found %q, want %q", got, want)
	}
}

// TestArtifactsHostile: what is no file is named and not waited for, what is
// deep or much is told to be left out.
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
		write("secret", 0)
		write("closed/file", 0o644)
		mine(filepath.Join(dir, "closed"))
		_ = os.Chmod(filepath.Join(dir, "closed"), 0o300)
		found, missing := f.Artifacts(t.Context(), before, false)
		var got []string
		for _, a := range found {
			got = append(got, fmt.Sprintf("%s: %d %s", a.Path, len(a.SHA256), a.Skipped))
		}
		want := []string{"closed: 0 permission denied", "fifo: 0 FIFO", "link: 0 symbolic link", "not\uFFFDutf8: 64 ", "secret: 0 permission denied"}
		if u == nil && os.Geteuid() == 0 { // who may read all
			want[0], want[4] = "closed/file: 64 ", "secret: 64 "
		}
		if !slices.Equal(got, want) || missing != nil {
			t.Errorf("%s: found %q, %v", name, got, missing)
		}
		_ = os.Chmod(filepath.Join(dir, "closed"), 0o700)
	}
}

// TestArtifactsDeep has more levels than are looked at.
func TestArtifactsDeep(t *testing.T) {
	f, dir := open(t, nil, rootfs.Options{})
	before := f.Snapshot(t.Context())
	at, err := unix.Open(dir, unix.O_DIRECTORY, 0)
	for i := 0; i < 1000 && err == nil; i++ {
		_ = unix.Mkdirat(at, "d", 0o755)
		if f, err := unix.Openat(at, "f", unix.O_CREAT|unix.O_WRONLY, 0o644); err == nil {
			unix.Close(f)
		}
		up := at
		at, err = unix.Openat(up, "d", unix.O_DIRECTORY, 0)
		unix.Close(up)
	}
	unix.Close(at)
	found, missing := f.Artifacts(t.Context(), before, false)
	if len(found) < 100 || len(found) > 200 || len(missing) != 1 || missing[0].Bytes != -1 || missing[0].Stream != "artifacts" {
		t.Errorf("%d found, %v missing, %v", len(found), missing, err)
	}
}

// TestArtifactsMany has more files than are listed, and stops when it is told to.
func TestArtifactsMany(t *testing.T) {
	f, dir := open(t, nil, rootfs.Options{})
	before := f.Snapshot(t.Context())
	for i := range codeinterp.MaxArtifacts + 10 {
		_ = os.WriteFile(filepath.Join(dir, strconv.Itoa(i)), []byte("12"), 0o644)
	}
	found, missing := f.Artifacts(t.Context(), before, false)
	want := codeinterp.Truncation{Stream: "artifacts", Bytes: 2*codeinterp.MaxArtifacts + 20, Kept: 2 * codeinterp.MaxArtifacts, Reason: codeinterp.TruncatedByLimit}
	if len(found) != codeinterp.MaxArtifacts || len(missing) != 1 || missing[0] != want {
		t.Errorf("%d found, %+v missing", len(found), missing)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if found, missing := f.Artifacts(ctx, before, false); len(found) != 0 || len(missing) != 1 || missing[0].Bytes != -1 {
		t.Errorf("stopped: %d found, %v missing", len(found), missing)
	}
}

// TestArtifactsCaches leaves out what is nobody's result, however much it is.
func TestArtifactsCaches(t *testing.T) {
	f, dir := open(t, nil, rootfs.Options{})
	before := f.Snapshot(t.Context())
	for _, name := range []string{".cache/matplotlib", "d/__pycache__", "d/.cache"} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
		for i := range codeinterp.MaxArtifacts/2 + 10 {
			if name == "d/.cache" && i > 0 {
				break
			}
			_ = os.WriteFile(filepath.Join(dir, name, strconv.Itoa(i)), []byte("12"), 0o644)
		}
	}
	found, missing := f.Artifacts(t.Context(), before, false)
	if len(found) != 1 || found[0].Path != "d/.cache/0" || missing != nil {
		t.Errorf("%+v found, %+v missing", found, missing)
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

// cpuTime is what the process has computed, in its own code and the system's.
func cpuTime(tb testing.TB) time.Duration {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		tb.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkArtifacts looks at 100,000 files twice, of which 10 changed. It tells
// the processor's time too, which other programs do not change much.
func BenchmarkArtifacts(b *testing.B) {
	dir := b.TempDir()
	for i := range 100_000 {
		if i%1000 == 0 {
			_ = os.Mkdir(filepath.Join(dir, strconv.Itoa(i/1000)), 0o755)
		}
		_ = os.WriteFile(filepath.Join(dir, strconv.Itoa(i/1000), strconv.Itoa(i)), []byte("x"), 0o644)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		b.Fatal(err)
	}
	f := rootfs.New(root, nil)
	defer f.Close()
	var before *rootfs.Snapshot
	b.Run("before", func(b *testing.B) {
		cpu := cpuTime(b)
		for b.Loop() {
			before = f.Snapshot(b.Context())
		}
		b.ReportMetric(float64((cpuTime(b)-cpu).Milliseconds())/float64(b.N), "cpu-ms/op")
	})
	for i := range 10 {
		_ = os.WriteFile(filepath.Join(dir, "7", strconv.Itoa(7000+i)), []byte("xy"), 0o644)
	}
	b.Run("after", func(b *testing.B) {
		cpu := cpuTime(b)
		for b.Loop() {
			if found, _ := f.Artifacts(b.Context(), before, false); len(found) != 10 {
				b.Fatal(len(found))
			}
		}
		b.ReportMetric(float64((cpuTime(b)-cpu).Milliseconds())/float64(b.N), "cpu-ms/op")
	})
}
