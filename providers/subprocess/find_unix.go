//go:build unix

package subprocess

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/sandbox"
)

// maxProbe bounds the time that an interpreter has to answer.
const maxProbe = 30 * time.Second

// A language is a Language whose interpreter was found.
type language struct {
	Language
	path     string   // of the interpreter
	boot     []byte   // sent to the driver before the first frame
	forkBoot []byte   // the same for a fork server, if the language has one
	roots    []string // directories that the interpreter needs, outside the system's
	runtime  string   // such as "CPython 3.11.7", from the driver's hello

	// heapMessage is what the runtime writes to standard error before it
	// aborts for want of memory; empty if it does not.
	heapMessage string
}

// find returns l with the first interpreter that can be reached from the
// sandbox, is new enough and, by try, works there; or an error that names what
// was tried.
func find(l Language, s *sandbox.Sandbox, try func(*language) error) (*language, error) {
	var tried []string
	for _, path := range candidates(l.Commands) {
		c := &language{Language: l, path: path}
		if l.kind == nodeKind || l.kind == typescriptKind {
			c.heapMessage = "heap out of memory"
		}
		err := s.Reachable(path)
		if err == nil {
			err = c.probe()
		}
		if err == nil {
			err = c.reachable(s)
		}
		if err == nil {
			err = try(c)
		}
		if err == nil {
			return c, nil
		}
		tried = append(tried, fmt.Sprintf("%s (%v)", path, err))
	}
	if tried == nil {
		tried = []string{strings.Join(l.Commands, ", ") + " (not found on PATH)"}
	}
	return nil, missing(&l, tried)
}

// missing is the error of a language without an interpreter that works.
func missing(l *Language, tried []string) error {
	hint := ""
	if l.Install != "" {
		hint = "; " + l.Install
	}
	return fmt.Errorf("%w: no interpreter for %s: tried %s%s", codeinterp.ErrUnavailable, l.Name, strings.Join(tried, "; "), hint)
}

// candidates returns the files that the commands may mean: on PATH first, then
// where systems keep interpreters.
func candidates(commands []string) []string {
	dirs := append(filepath.SplitList(os.Getenv("PATH")), "/usr/local/bin", "/usr/bin", "/bin", "/opt/homebrew/bin")
	var list []string
	for _, command := range commands {
		if strings.ContainsRune(command, '/') {
			if path, err := filepath.Abs(command); err == nil {
				list = append(list, path)
			}
			continue
		}
		for _, dir := range dirs {
			if real, err := filepath.EvalSymlinks(dir); err == nil {
				dir = real // /bin is /usr/bin
			}
			path := filepath.Join(dir, command)
			if !filepath.IsAbs(dir) || slices.Contains(list, path) {
				continue
			}
			if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
				list = append(list, path)
			}
		}
	}
	return list
}

// probe asks the interpreter, as the host, for its version and what else is
// needed to start it.
func (l *language) probe() error {
	if l.kind == pythonKind {
		return l.probePython()
	}
	args := l.VersionArgs
	if args == nil {
		args = []string{"--version"}
	}
	out, err := ask(l.path, args, "")
	if err != nil {
		return err
	}
	v := version.FindString(out)
	if v == "" {
		return errors.New("prints no version")
	}
	if older(v, l.MinVersion) {
		return fmt.Errorf("version %s is older than %s", v, l.MinVersion)
	}
	l.runtime = l.Name + " " + v
	l.roots = rootsOf(l.path)
	return nil
}

// learn notes what the driver's hello says of the runtime.
func (l *language) learn(runtime string) {
	l.runtime = runtime
	if l.kind == typescriptKind {
		l.runtime += " (types erased)"
	}
}

var version = regexp.MustCompile(`\d+(\.\d+)+|\d+`)

// probePython also compiles the driver, which is half of what a start would
// take otherwise, and asks where Python lives.
func (l *language) probePython() error {
	const question = `import sys,marshal
v=sys.version_info
import os
print('%d.%d.%d'%v[:3]);print(sys.executable);print(*{sys.prefix,sys.base_prefix,sys.exec_prefix,sys.base_exec_prefix},sep='\0');print(os.path.dirname(os.__file__),*sys.path,sep='\0');sys.stdout.flush()
if v>=(3,9):
 for s in sys.stdin.buffer.read().split(b'\0'):
  b=marshal.dumps(compile(s,'<toolcell>','exec',0,True));sys.stdout.buffer.write(b'%08x'%len(b)+b)`
	out, err := ask(l.path, []string{"-I", "-X", "utf8", "-c", question}, l.Driver.Source+"\nloop()\n\x00"+l.Driver.Source+pythonForks)
	if err != nil {
		return err
	}
	parts := strings.SplitN(out, "\n", 5)
	if len(parts) < 5 {
		return errors.New("is no Python")
	}
	if older(parts[0], l.MinVersion) {
		return fmt.Errorf("version %s is older than %s", parts[0], l.MinVersion)
	}
	l.runtime = "CPython " + parts[0]
	if filepath.IsAbs(parts[1]) {
		l.path = parts[1] // behind the shims of version managers
	}
	l.roots = pythonRoots(l.path, strings.Split(parts[2], "\x00"), strings.Split(parts[3], "\x00"))
	n, ok := length([]byte(parts[4]))
	if !ok || len(parts[4]) < digits+n {
		return errors.New("cannot compile the driver")
	}
	l.boot, l.forkBoot = []byte(parts[4][:digits+n]), []byte(parts[4][digits+n:])
	return nil
}

// ask runs the interpreter and returns what it prints.
func ask(path string, args []string, stdin string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), maxProbe)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME"), "LANG=C.UTF-8"}
	cmd.Dir = "/"
	cmd.Stdin = strings.NewReader(stdin)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	cmd.WaitDelay = time.Second
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			return "", errors.New("does not answer")
		}
		if line, _, _ := strings.Cut(strings.TrimSpace(errs.String()), "\n"); line != "" {
			return "", fmt.Errorf("does not work: %s", line)
		}
		return "", errors.New("does not work: " + strings.TrimPrefix(err.Error(), "fork/exec "+path+": "))
	}
	if out.Len() == 0 {
		return errs.String(), nil
	}
	return out.String(), nil
}

// older reports whether version v is lower than want.
func older(v, want string) bool {
	if want == "" {
		return false
	}
	a, b := strings.Split(v, "."), strings.Split(want, ".")
	for i := range b {
		if i >= len(a) {
			return true
		}
		x, _ := strconv.Atoi(a[i])
		y, _ := strconv.Atoi(b[i])
		if x != y {
			return x < y
		}
	}
	return false
}

// reachable reports whether programs can execute l's interpreter.
func (l *language) reachable(s *sandbox.Sandbox) error {
	for _, path := range l.roots {
		if err := s.Reachable(path); err != nil {
			return fmt.Errorf("cannot be reached by programs: %w", err)
		}
	}
	return nil
}
