//go:build unix

package subprocess_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/leftover"
	"github.com/toolcell/toolcell/internal/race"
	"github.com/toolcell/toolcell/providers/subprocess"
)

// swapper has d be a directory, a link out, and nothing, in turn, each of the
// first two for some tenths of a millisecond.
const swapper = `
import os, random
os.mkdir('real')
os.chmod('real', 0o777)
os.symlink(%q, 'evil')
print('go', flush=True)
while not os.path.exists('stop'):
    for name in 'real', 'evil':
        try:
            os.rename(name, 'd')
            for _ in range(random.randrange(5_000)):
                pass
            os.rename('d', name)
        except OSError:
            pass
print('done')
`

// TestFilesRace writes, reads and moves files below a directory that a program
// swaps for a link that leads out, all the time: nothing outside is read or
// written. TOOLCELL_TEST_FULL=1 does so 10,000 times.
func TestFilesRace(t *testing.T) {
	times := 200
	if race.Full() {
		times = 10_000
	}
	eachMode(t, func(t *testing.T, o subprocess.Options) {
		outside := leftover.Dir(t)
		secret := filepath.Join(outside, "a")
		for _, err := range []error{os.WriteFile(secret, []byte("secret"), 0o666), os.Chmod(secret, 0o666), os.Chmod(outside, 0o777)} {
			if err != nil {
				t.Fatal(err)
			}
		}
		ci := open(t, o)
		id, dir := openFiles(t, ci, "python", nil)
		begun, ended := make(chan struct{}), make(chan struct{})
		go func() {
			defer close(ended)
			res, err := ci.RunInContext(t.Context(), id, fmt.Sprintf(swapper, outside), &codeinterp.RunOptions{OnOutput: func(o codeinterp.Output) error {
				if strings.Contains(string(o.Data), "go") {
					close(begun)
				}
				return nil
			}})
			if err != nil || !res.OK() {
				t.Errorf("%s, %v", summary(res), err)
			}
		}()
		select {
		case <-begun:
		case <-ended:
			t.FailNow()
		}
		written := useSwapped(t, dir, times)
		if err := codeinterp.WriteFile(dir, "stop", strings.NewReader(""), 0o644); err != nil {
			t.Error(err)
		}
		<-ended
		t.Logf("%d of %d writes found a directory", written, times)
		list, err := os.ReadDir(outside)
		if b, rerr := os.ReadFile(secret); err != nil || rerr != nil || len(list) != 1 || string(b) != "secret" {
			t.Errorf("outside are %v, %q, %v, %v", list, b, err, rerr)
		}
	})
}

// useSwapped uses files below d so many times, and returns how many could be written.
func useSwapped(t *testing.T, dir codeinterp.FS, times int) (written int) {
	for range times {
		if b, err := fs.ReadFile(dir, "d/a"); err == nil && strings.Contains(string(b), "secret") {
			t.Errorf("read %q", b)
		}
		if codeinterp.WriteFile(dir, "d/a", strings.NewReader("inside"), 0o644) == nil {
			written++
		}
		_ = codeinterp.WriteFile(dir, "d/b", strings.NewReader("inside"), 0o644)
		_ = dir.Rename("d/b", "d/c")
		_ = dir.Mkdir("d/e", 0o755)
		_ = dir.RemoveAll("d/a")
	}
	return written
}
