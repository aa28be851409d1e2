//go:build unix

package subprocess

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/toolcell/toolcell/codeinterp"
)

// Wheels hold more than modules: files for bin and for the environment itself,
// lines that Python runs whenever it starts, and requirements by address, which
// pip builds. What is here keeps all of that from running as the host.

// baseFile has the path of the interpreter that an environment was made with.
const baseFile = "toolcell.base"

// wheelsOnly is a .pth file by which a pip that runs in the environment starts no
// builds, which are processes of the same Python, and fetches from no repository.
const wheelsOnly = `import sys, os; sys.addaudithook(lambda event, args: (_ for _ in ()).throw(PermissionError('only wheels are installed')) if event == 'subprocess.Popen' and (os.fsdecode(args[0]) == sys.executable or os.path.basename(os.fsdecode(args[0])) in ('git', 'hg', 'svn', 'bzr')) else None)
`

const wheelsOnlyFile = "toolcell-wheels-only.pth"

// isEnvironment reports whether an interpreter is that of an environment.
func isEnvironment(python string) bool {
	_, err := os.Stat(filepath.Join(filepath.Dir(filepath.Dir(python)), lockFile))
	return err == nil
}

// baseOf returns the interpreter that an environment's was made with, others as
// they are. It has no package that others have chosen.
func baseOf(python string) string {
	if !isEnvironment(python) {
		return python
	}
	if text, err := os.ReadFile(filepath.Join(filepath.Dir(filepath.Dir(python)), baseFile)); err == nil {
		return string(text)
	}
	if real, err := filepath.EvalSymlinks(python); err == nil {
		return real // it was made before there were such files
	}
	return python
}

// A shell is what an environment without packages starts Python by.
type shell struct {
	bin    map[string]os.FileInfo
	config []byte
}

// empty makes an environment without packages, in place of what is there.
func (b *builder) empty(ctx context.Context, i installer) (*shell, error) {
	if err := os.RemoveAll(b.dir); err != nil {
		return nil, fmt.Errorf("%w: %w", codeinterp.ErrUnavailable, err)
	}
	if _, err := b.run(ctx, "making it", i.make); err != nil {
		return nil, err
	}
	s, err := b.shell()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", codeinterp.ErrUnavailable, err)
	}
	return s, nil
}

// shell looks at an environment without packages, and has it build none.
func (b *builder) shell() (*shell, error) {
	if err := b.enclosure.check(b.dir); err != nil {
		return nil, err
	}
	s, err := shellOf(b.dir)
	if err == nil && b.enclosure != nil {
		err = startsBy(b.dir, b.python)
	}
	if err != nil {
		return nil, err
	}
	packages, err := filepath.Glob(filepath.Join(b.dir, "lib", "*", "site-packages"))
	if err != nil || len(packages) != 1 {
		return nil, errors.New("it has no place for packages")
	}
	place, err := openPlain(packages[0])
	if err != nil {
		return nil, err
	}
	defer place.Close()
	return s, place.WriteFile(wheelsOnlyFile, []byte(wheelsOnly), 0o644)
}

func shellOf(dir string) (*shell, error) {
	s := &shell{bin: map[string]os.FileInfo{}}
	entries, err := os.ReadDir(filepath.Join(dir, "bin"))
	for _, e := range entries {
		about, wrong := e.Info()
		s.bin[e.Name()], err = about, errors.Join(err, wrong)
	}
	var wrong error
	s.config, wrong = readPlain(dir, "pyvenv.cfg")
	return s, errors.Join(err, wrong)
}

// check wants Python to be started as before the packages came.
func (s *shell) check(b *builder) error {
	dir := b.dir
	err := b.enclosure.check(dir)
	if err != nil {
		return fmt.Errorf("%w: %w", codeinterp.ErrUnavailable, err)
	}
	now, err := shellOf(dir)
	if err == nil && !bytes.Equal(now.config, s.config) {
		err = errors.New("a package has replaced pyvenv.cfg")
	}
	if err == nil && b.enclosure != nil {
		err = startsBy(dir, b.python)
	}
	for name, was := range s.bin {
		is := now.bin[name]
		if is == nil || !os.SameFile(is, was) || !is.ModTime().Equal(was.ModTime()) || is.Mode() != was.Mode() {
			err = errors.Join(err, fmt.Errorf("a package has replaced bin/%s", name))
		}
	}
	for name := range now.bin {
		low := strings.ToLower(name)
		if s.bin[name] == nil && (low == "pyvenv.cfg" || low == "pybuilddir.txt" || strings.HasSuffix(low, "._pth")) {
			err = errors.Join(err, fmt.Errorf("a package has bin/%s, which says what Python is", name))
		}
	}
	found, _ := filepath.Glob(filepath.Join(dir, "lib", "*", "site-packages", wheelsOnlyFile))
	for _, file := range found {
		err = errors.Join(err, os.Remove(file))
	}
	if err != nil {
		return fmt.Errorf("%w: %w", codeinterp.ErrUnavailable, err)
	}
	return nil
}
