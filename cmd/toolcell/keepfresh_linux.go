package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
)

// perCall are flags that each call has of its own.
var perCall = []string{"exec", "language", "stdin", "json", "in", "out", "timeout", "images", "keep"}

// perTerminal are variables that change from call to call and do not affect programs.
var perTerminal = []string{"PWD", "OLDPWD", "SHLVL", "_", "COLUMNS", "LINES", "TERM", "COLORTERM", "TERM_PROGRAM", "LC_TERMINAL",
	"TMUX", "TMUX_PANE", "WINDOWID", "KITTY_WINDOW_ID", "TERM_SESSION_ID", "TOOLCELL_KEEP"}

// key names the keepers that can serve a call: those of the same command with the same
// environment and flags, apart from what each call has of its own.
func (f *runFlags) key(environ []string) (string, error) {
	env := slices.DeleteFunc(slices.Clone(environ), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return slices.Contains(perTerminal, name)
	})
	slices.Sort(env)
	this, err := os.Stat("/proc/self/exe")
	if err != nil {
		return "", err
	}
	parts := []any{version(), this.ModTime(), this.Size(), env, f.script.dir, f.provider, f.env.values, f.network, f.isolation.Mode,
		f.unsandboxed, f.memory, f.disk, f.processes, f.preload, f.with, f.node}
	for _, paths := range [][]string{f.read, f.write} {
		list, err := absolute(paths)
		if err != nil {
			return "", err
		}
		parts = append(parts, list)
	}
	python := f.python
	if strings.Contains(python, "/") {
		python, err = filepath.Abs(python)
	}
	if err == nil && f.name != "" {
		e, failed := openNamed(f.getenv("TOOLCELL_ENVIRONMENTS"), f.name)
		if failed != nil {
			return "", failed
		}
		python = e.ID
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%#v", append(parts, python)))
	return hex.EncodeToString(sum[:12]), err
}

// A snapshot is the state of the files that a ready interpreter has loaded.
type snapshot struct {
	begin time.Time // before the first was loaded
	files map[string]stamp
}

// A stamp changes with a file's content.
type stamp struct {
	inode   uint64
	size    int64
	changed time.Time
}

// listLoaded prints the files of all loaded modules, the interpreter, and the
// directories that packages are installed in.
const listLoaded = `import sys
print(*{getattr(m, '__file__', None) or '' for m in list(sys.modules.values())}, sys.executable, *[p for p in sys.path if p.endswith('-packages')], sep='\0')`

// snapshotOf looks at what an interpreter that was started after begin has loaded.
func snapshotOf(ctx context.Context, ci codeinterp.CodeInterpreter, begin time.Time) (*snapshot, error) {
	res, err := ci.RunCode(ctx, "python", listLoaded, &codeinterp.RunOptions{MaxOutput: 4 << 20})
	if err != nil {
		return nil, err
	}
	s := &snapshot{begin: begin, files: map[string]stamp{}}
	for _, file := range strings.Split(strings.TrimSuffix(res.Stdout(), "\n"), "\x00") {
		if filepath.IsAbs(file) {
			s.files[file] = stampOf(file)
		}
	}
	return s, nil
}

func stampOf(file string) stamp {
	info, err := os.Stat(file)
	if err != nil {
		return stamp{}
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return stamp{}
	}
	return stamp{st.Ino, st.Size, time.Unix(st.Ctim.Unix())}
}

// fresh reports a file that was changed since it was loaded.
func (s *snapshot) fresh() error {
	for file, was := range s.files {
		if now := stampOf(file); now != was || now.changed.After(s.begin) {
			return fmt.Errorf("%s has changed", file)
		}
	}
	return nil
}
