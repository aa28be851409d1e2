//go:build unix

package rootfs_test

import (
	"crypto/sha256"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/toolcell/toolcell/internal/rootfs"
)

// many makes a directory of 100,000 files.
func many(b *testing.B) string {
	dir := b.TempDir()
	for i := range 100_000 {
		if i%1000 == 0 {
			_ = os.Mkdir(filepath.Join(dir, strconv.Itoa(i/1000)), 0o755)
		}
		_ = os.WriteFile(filepath.Join(dir, strconv.Itoa(i/1000), strconv.Itoa(i)), []byte("x"), 0o644)
	}
	return dir
}

// ten changes ten files of them, in one directory or in each tenth.
func ten(dir string, n, apart int) {
	for i := range 10 {
		of := 7 + i*apart
		_ = os.WriteFile(filepath.Join(dir, strconv.Itoa(of), strconv.Itoa(of*1000+i)), strconv.AppendInt(nil, int64(n), 10), 0o644)
	}
}

// BenchmarkArtifacts looks at 100,000 files before and after a run which changes
// 10 of them, or none, where they are watched and where they are not. The floor
// is a walk that asks for nothing but names, and ten hashes. It tells the
// processor's time too, which other programs do not change much.
func BenchmarkArtifacts(b *testing.B) {
	dir := many(b)
	measure := func(name string, each func(*testing.B)) {
		b.Run(name, func(b *testing.B) {
			cpu := cpuTime(b)
			for b.Loop() {
				each(b)
			}
			b.ReportMetric(float64((cpuTime(b)-cpu).Microseconds())/1000/float64(b.N), "cpu-ms/op")
		})
	}
	measure("floor", func(b *testing.B) {
		n := 0
		_ = filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
			if n++; n%10_000 == 0 && !d.IsDir() {
				text, _ := os.ReadFile(path)
				sha256.Sum256(text)
			}
			return err
		})
	})
	watches := rootfs.NewWatches()
	defer watches.Close()
	for name, w := range map[string]*rootfs.Watches{"scan": nil, "watch": watches} {
		root, err := os.OpenRoot(dir)
		if err != nil {
			b.Fatal(err)
		}
		f := rootfs.New(root, &rootfs.Options{Watches: w})
		defer f.Close()
		n := 0
		run := func(want, apart int) func(b *testing.B) {
			return func(b *testing.B) {
				n++
				before := f.Snapshot(b.Context())
				if want > 0 {
					ten(dir, n, apart)
				}
				if found, _ := f.Artifacts(b.Context(), before, false); len(found) != want {
					b.Fatal(len(found))
				}
			}
		}
		measure(name+"/first", func(b *testing.B) {
			if root, err = os.OpenRoot(dir); err != nil {
				b.Fatal(err)
			}
			f := rootfs.New(root, &rootfs.Options{Watches: w})
			f.Snapshot(b.Context())
			f.Close()
		})
		measure(name+"/none", run(0, 0))
		measure(name+"/ten", run(10, 0))
		measure(name+"/apart", run(10, 9))
	}
}
