package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/probecache"
)

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
	parts := []any{version(), this.ModTime(), this.Size(), env, f.script.dir, f.provider, f.env.values, f.network, f.isolation,
		f.unsandboxed, f.memory, f.disk, f.processes, f.preload, f.with, f.node}
	if f.name != "" {
		e, err := openNamed(f.getenv("TOOLCELL_ENVIRONMENTS"), f.name)
		if err != nil {
			return "", err
		}
		parts = append(parts, e.ID)
	}
	here, err := os.Getwd() // relative paths begin here
	if !slices.ContainsFunc(append(append(f.read[:len(f.read):len(f.read)], f.write...), f.python), relative) {
		here = ""
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%#v", append(parts, f.read, f.write, f.python, here)))
	return hex.EncodeToString(sum[:12]), err
}

func relative(path string) bool { return path != "" && !filepath.IsAbs(path) }

// A snapshot is the state of the files that decide which interpreter a run would start.
// The provider itself looks at the modules that ready processes have imported.
type snapshot map[string]string

// snapshotOf returns the state of the interpreters and the directories of their packages.
func snapshotOf(ci codeinterp.CodeInterpreter) snapshot {
	s := snapshot{}
	for _, l := range codeinterp.Describe(ci).Languages {
		paths := []string{l.Path, filepath.Join(l.Prefix, "pyvenv.cfg")}
		for _, root := range append(l.Roots, l.Prefix) {
			for _, in := range []string{"", "*-packages", "lib/python3*/*-packages"} {
				found, _ := filepath.Glob(filepath.Join(root, in))
				paths = append(paths, found...)
			}
		}
		for _, path := range paths {
			s[path] = probecache.Stamp(path)
		}
	}
	return s
}

// fresh returns an error that names a file which has changed.
func (s snapshot) fresh() error {
	for path, was := range s {
		if probecache.Stamp(path) != was {
			return fmt.Errorf("%s has changed", path)
		}
	}
	return nil
}
