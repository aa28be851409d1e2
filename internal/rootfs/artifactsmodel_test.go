//go:build unix

package rootfs_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
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
	known int      // how many of dirs are older than the round
	next  int
	open  []opened
}

type node struct{ changed bool }

// An opened is a file that stays open from one run to the next.
type opened struct {
	n    *node
	file *os.File
	mem  []byte // mapped, nil where it is not
}

func (m *tree) close() {
	for _, o := range m.open {
		o.file.Close()
		if o.mem != nil {
			_ = unix.Munmap(o.mem)
		}
	}
}

// do performs one change. a and b choose the files.
func (m *tree) do(op, a, b byte) {
	name, n := m.pick(a)

	m.next++
	fresh := m.dirs[int(b)%len(m.dirs)] + "f" + strconv.Itoa(m.next)
	op %= 21
	switch op {
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
		m.renameDir(a, fmt.Sprintf("e%d/", m.next))
	case 11:
		m.write(b)
	case 12: // an old directory goes into a new one
		sub := fmt.Sprintf("e%d/", m.next)
		if m.dirs[int(a)%len(m.dirs)] != "" && os.Mkdir(filepath.Join(m.dir, sub), 0o755) == nil {
			m.renameDir(a, sub+"d/")
		}
	case 13: // what comes and goes
		tmp := filepath.Join(m.dir, fresh)
		for range 1 + b%2 {
			_ = os.Mkdir(tmp, 0o755)
			_ = os.WriteFile(filepath.Join(tmp, "f"), []byte("x"), 0o644)
			_ = os.RemoveAll(tmp)
		}
		_ = os.WriteFile(tmp, []byte("x"), 0o644)
		_ = os.Remove(tmp)
	}
	if n == nil {
		return
	}
	m.doFile(op, b, name, fresh, n)
}

// write changes a file that is open.
func (m *tree) write(b byte) {
	if len(m.open) == 0 {
		return
	}
	o := m.open[int(b)%len(m.open)]
	if o.n.changed = true; o.mem != nil {
		o.mem[0]++
		return
	}
	var first [1]byte
	_, _ = o.file.ReadAt(first[:], 0)
	first[0]++
	_, _ = o.file.WriteAt(first[:], 0)
}

// doFile performs one change of a file.
func (m *tree) doFile(op, b byte, name, fresh string, n *node) {
	path := filepath.Join(m.dir, name)
	switch op {
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
	case 14, 15: // stays open
		if f, err := os.OpenFile(path, os.O_RDWR, 0); err == nil {
			o := opened{n: n, file: f}
			if op == 15 {
				o.mem, _ = unix.Mmap(int(f.Fd()), 0, 1, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
			}
			m.open = append(m.open, o)
		}
	case 16: // another name, which goes again; a new directory would go unnoticed
		other := filepath.Join(m.dir, m.dirs[int(b)%m.known], "other")
		_ = os.Link(path, other)
		if b%2 == 0 {
			m.keepingTimes(other, func(text []byte) []byte { return append(text[1:], 'z') })
		}
		_ = os.Remove(other)
		n.changed = true
	case 17: // read
		_, _ = os.ReadFile(path)
		_, _ = os.ReadDir(filepath.Dir(path))
	case 18: // replaced by a file that had no name
		if f, err := os.OpenFile(filepath.Dir(path), tmpfile|os.O_WRONLY, 0o644); err == nil {
			_, _ = f.WriteString("tmpfile")
			_ = os.Remove(path)
			_ = unix.Linkat(unix.AT_FDCWD, fmt.Sprintf("/proc/self/fd/%d", f.Fd()), unix.AT_FDCWD, path, unix.AT_SYMLINK_FOLLOW)
			f.Close()
			m.files[name] = &node{changed: true}
			n.changed = true
		}
	case 20:
		if other, o := m.pick(b); o != n && exchange(path, filepath.Join(m.dir, other)) == nil {
			m.files[name], m.files[other] = o, n
			n.changed, o.changed = true, true
		}
	case 19:
		if os.Truncate(path, 1) == nil {
			n.changed = true
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

func (m *tree) renameDir(a byte, to string) {
	from := m.dirs[int(a)%len(m.dirs)]
	if from == "" {
		return
	}
	if os.Rename(filepath.Join(m.dir, from), filepath.Join(m.dir, to)) != nil {
		return
	}
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
	f.Add([]byte("\x00\x00\x00\x0f\x00\x00\x0b\x00\x00|\x0b\x00\x00|\x0b\x00\x00|\x03\x00\x00|\x0b\x00\x00|"))
	f.Add([]byte("\x00\x00\x00\x0e\x00\x00|\x0b\x00\x00|\x11\x00\x00|\x06\x00\x00|\x0b\x00\x00|"))
	f.Add([]byte("\x00\x00\x00|\x10\x00\x00|\x09\x00\x00|\x04\x00\x00|\x08\x01\x00|\x12\x00\x00|\x13\x00\x00"))
	f.Add([]byte("\x02\x00\x00\x00\x00\x01\x00\x00\x01|\x0c\x01\x00|\x0d\x00\x01|\x04\x01\x00|\x0c\x01\x00\x05\x00\x00|\x05\x00\x00"))
	watches := rootfs.NewWatches()
	f.Cleanup(func() { watches.Close() })
	f.Fuzz(func(t *testing.T, program []byte) {
		if len(program) > 600 {
			return
		}
		rounds(t, program, nil)
		rounds(t, program, watches)
	})
}

// TestArtifactsSequences performs sequences at random, the same each time.
func TestArtifactsSequences(t *testing.T) {
	watches := rootfs.NewWatches()
	defer watches.Close()
	for seed := range 100 {
		r := rand.New(rand.NewPCG(uint64(seed), 0))
		var program []byte
		for range 3 + r.IntN(8) {
			for range r.IntN(12) {
				program = append(program, byte(r.IntN(21)), byte(r.IntN(6)), byte(r.IntN(6)))
			}
			program = append(program, '|')
		}
		if rounds(t, program, watches); t.Failed() {
			t.Fatalf("%q", program)
		}
	}
}

// rounds performs a program, with a look after each of its rounds.
func rounds(t *testing.T, program []byte, watches *rootfs.Watches) {
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	fsys := rootfs.New(root, &rootfs.Options{Watches: watches})
	defer fsys.Close()
	m := &tree{dir: dir, files: map[string]*node{}, dirs: []string{""}}
	defer m.close()
	for round := range bytes.SplitSeq(program, []byte("|")) {
		before := maps.Clone(m.files)
		for _, n := range m.files {
			n.changed = false
		}
		m.known = len(m.dirs)
		snapshot := fsys.Snapshot(t.Context())
		for ; len(round) >= 3; round = round[3:] {
			// A second write to a mapping leaves no trace in a file's times.
			if op := round[0] % 21; op != 15 || watches != nil {
				m.do(round[0], round[1], round[2])
			}
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
