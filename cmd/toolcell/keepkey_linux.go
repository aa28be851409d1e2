package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/toolcell/toolcell/cmd/toolcell/internal/keeper"
)

// passing are variables of the command's environment that change from call to call
// and decide nothing about programs, or are the caller's terminal's, for which a
// keeper asks the caller's.
var passing = []string{"PWD", "OLDPWD", "SHLVL", "_", "COLUMNS", "LINES", "TERM", "COLORTERM", "TERM_PROGRAM", "LC_TERMINAL",
	"TMUX", "TMUX_PANE", "WINDOWID", "KITTY_WINDOW_ID", "TERM_SESSION_ID", "TOOLCELL_KEEP"}

// key stands for all that decides what the program finds and may do, beside what
// comes with each run.
func (f *runFlags) key(standing string, environ []string) (keeper.Key, error) {
	env := slices.DeleteFunc(slices.Clone(environ), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return slices.Contains(passing, name)
	})
	slices.Sort(env)
	settings, err := f.settings()
	if err != nil {
		return "", err
	}
	this, err := stamp("/proc/self/exe")
	if err != nil {
		return "", err
	}
	// Maps are in order, and strings quoted so that no two become one.
	sum := sha256.Sum256(fmt.Appendf(nil, "%#v", map[string]any{"command": this, "standing": standing, "env": env, "settings": settings}))
	return keeper.Key(hex.EncodeToString(sum[:16])), nil
}

// settings are the flags that are no run's own, nor the same for all that is kept, with the paths in them as they are
// from everywhere.
func (f *runFlags) settings() (map[string]any, error) {
	s := map[string]any{
		"provider": f.provider, "env": f.env.values,
		"network": f.network, "isolation": f.isolation.Mode, "unsandboxed": f.unsandboxed,
		"memory": f.memory, "disk": f.disk, "processes": f.processes,
		"warm": f.warm, "preload": f.preload, "with": f.with, "install": f.install,
	}
	for name, paths := range map[string][]string{"dir": nonEmpty(f.dir), "read": f.read, "write": f.write} {
		list, err := placed(paths)
		if err != nil {
			return nil, err
		}
		s[name] = list
	}
	if len(f.read)+len(f.write)+len(f.dir) > 0 { // what is mounted below
		mounts, err := os.ReadFile("/proc/self/mountinfo")
		if err != nil {
			return nil, err
		}
		s["mounts"] = string(mounts)
	}
	for name, command := range map[string]string{"python": f.python, "node": f.node} {
		if command == "" {
			continue
		}
		at, err := exec.LookPath(command)
		if err != nil {
			return nil, err
		}
		if s[name], err = placed([]string{at}); err != nil {
			return nil, err
		}
	}
	if f.name != "" {
		e, err := openNamed(f.getenv("TOOLCELL_ENVIRONMENTS"), f.name)
		if err != nil {
			return nil, err
		}
		s["environment"] = e.ID
	}
	return s, nil
}

func nonEmpty(path string) []string {
	if path == "" {
		return nil
	}
	return []string{path}
}

// placed says where paths are, and what is there now.
func placed(paths []string) (list []string, err error) {
	for _, path := range paths {
		if own(path) {
			return nil, fmt.Errorf("%s is this process's own", path)
		}
		abs, err := filepath.Abs(path)
		if err != nil {
			return nil, err
		}
		info, err := os.Stat(abs)
		if err != nil {
			return nil, err
		}
		st, ok := info.Sys().(*syscall.Stat_t)
		if !ok {
			return nil, fmt.Errorf("%s cannot be told apart", path)
		}
		list = append(list, fmt.Sprintf("%s %d:%d", abs, st.Dev, st.Ino))
	}
	return list, nil
}

// stamp says which file it is, and when it was changed last.
func stamp(path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return "", fmt.Errorf("%s cannot be told apart", path)
	}
	return fmt.Sprintf("%d:%d %d %d.%d %d.%d", st.Dev, st.Ino, st.Size, st.Mtim.Sec, st.Mtim.Nsec, st.Ctim.Sec, st.Ctim.Nsec), nil
}
