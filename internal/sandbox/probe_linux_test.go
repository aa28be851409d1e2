//go:build real && (amd64 || arm64)

package sandbox_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/leftover"
	"github.com/toolcell/toolcell/internal/sandbox"
)

// helpers are what this test binary does, instead of tests, in a process of
// its own.
var helpers = map[string]func() error{
	"no-namespaces": func() error {
		return underFilter(false, true, "landlock", nil, "bwrap")
	},
	"no-landlock": func() error {
		return underFilter(true, false, "bwrap", nil)
	},
	"neither": func() error {
		return underFilter(true, true, "none", codeinterp.ErrIsolation, "bwrap", "landlock")
	},
	"listener": func() error {
		if err := sandbox.Listen(); err != nil {
			return err
		}
		_, err := sandbox.New(&sandbox.Options{Require: sandbox.Landlock, Egress: true})
		if !errors.Is(err, codeinterp.ErrIsolation) || !strings.Contains(err.Error(), "seccomp notification") {
			return fmt.Errorf("got %v", err)
		}
		return nil
	},
	"docker":     func() error { return inDocker(true, true) },
	"docker-old": func() error { return inDocker(false, false) },
	"docker-no":  func() error { return inDocker(true, false) },

	"nested": nested,
	"vanish": vanish,
	"host":   hostThatDies,
	"reaper": hostThatReaps,
	"starts": hostThatStarts,
	"leaves": hostThatLeaves,
}

const helperEnv = "TOOLCELL_SANDBOX_HELPER"

func TestMain(m *testing.M) {
	if name := os.Getenv(helperEnv); name != "" {
		if err := helpers[name](); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(leftover.Run(m))
}

// underFilter expects the mode that is left to be chosen, with a reason for
// each that is not, and, where it is none, that it must be allowed.
func underFilter(landlock, namespaces bool, mode string, without error, reasons ...string) error {
	if err := sandbox.Deny(landlock, namespaces); err != nil {
		return err
	}
	s, err := sandbox.New(nil)
	if !errors.Is(err, without) {
		return fmt.Errorf("got %v, want %v", err, without)
	}
	if err == nil {
		s.Close()
	}
	s, err = sandbox.New(&sandbox.Options{AllowNone: true})
	if err != nil {
		return err
	}
	defer s.Close()
	if r := s.Report(); r.Backend != mode || len(r.Reasons) != len(reasons) {
		return fmt.Errorf("got %+v, want %s", r, mode)
	}
	for i, r := range s.Report().Reasons {
		if !strings.HasPrefix(r, reasons[i]+": ") || len(r) < 30 {
			return fmt.Errorf("reason %q", r)
		}
		fmt.Println(r)
	}
	for _, m := range []sandbox.Mode{sandbox.Landlock, sandbox.Bwrap} {
		works := !(landlock && m == sandbox.Landlock || namespaces && m == sandbox.Bwrap)
		s, err := sandbox.New(&sandbox.Options{Require: m, AllowNone: true})
		if works != (err == nil) || err != nil && !errors.Is(err, codeinterp.ErrIsolation) {
			return fmt.Errorf("%v required: %v", m, err)
		}
		if err == nil {
			s.Close()
		}
	}
	return nil
}

// nested is a host that is a program of another one.
func nested() error {
	_, err := sandbox.New(nil)
	if !errors.Is(err, codeinterp.ErrIsolation) || !strings.Contains(err.Error(), "landlock: the kernel has no Landlock") {
		return fmt.Errorf("got %v", err)
	}
	s, err := sandbox.New(&sandbox.Options{AllowNone: true})
	if err != nil {
		return err
	}
	defer s.Close()
	dir, err := s.TempDir()
	if err != nil {
		return err
	}
	p, err := s.Start(&sandbox.Cmd{Path: "/bin/echo", Args: []string{"echo", "nested"}, Workdir: dir, Files: []*os.File{nil, os.Stdout}})
	if err != nil {
		return err
	}
	p.Wait()
	return nil
}

// vanish takes namespaces away when the sandbox is in use already.
func vanish() error {
	s, err := sandbox.New(&sandbox.Options{Require: sandbox.Bwrap})
	if err != nil {
		return err
	}
	defer s.Close()
	if err := sandbox.Deny(false, true); err != nil {
		return err
	}
	dir, err := s.TempDir()
	if err != nil {
		return err
	}
	_, err = s.Start(&sandbox.Cmd{Path: "/bin/sh", Workdir: dir})
	if !errors.Is(err, codeinterp.ErrIsolation) {
		return fmt.Errorf("got %v", err)
	}
	return nil
}

// hostThatReaps is the parent of all orphans, as the first process of a
// container is; nothing that a program leaves may stay as a zombie.
func hostThatReaps() error {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return err
	}
	for _, mode := range []sandbox.Mode{sandbox.None, sandbox.Landlock, sandbox.Bwrap} {
		s, err := sandbox.New(&sandbox.Options{Require: mode})
		if err != nil {
			return err
		}
		for range 5 {
			dir, err := s.TempDir()
			if err != nil {
				return err
			}
			p, err := s.Start(&sandbox.Cmd{Path: "/bin/sh", Args: []string{"sh", "-c", "(sleep 100 & sleep 100 &) & sleep 0.1; exit 3"}, Workdir: dir})
			if err != nil {
				return err
			}
			if exit := p.Wait(); exit.Code != 3 {
				return fmt.Errorf("%v: %+v", mode, exit)
			}
			if !await(func() bool { return len(zombies()) == 0 }) {
				return fmt.Errorf("%v: zombies %v", mode, zombies())
			}
		}
		if err := s.Close(); err != nil {
			return err
		}
	}
	return nil
}

// helper returns a command that runs one of helpers.
func helper(name string) *exec.Cmd {
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = append(os.Environ(), helperEnv+"="+name)
	return cmd
}

// TestNested: a host that is a program of another one has to be allowed none mode.
func TestNested(t *testing.T) {
	self := filepath.Join(openTemp(t), "host")
	check(t, os.WriteFile(self, must(os.ReadFile("/proc/self/exe")), 0o755))
	eachMode(t, func(t *testing.T, mode sandbox.Mode) {
		if mode == sandbox.None {
			return
		}
		s := open(t, &sandbox.Options{Require: mode, ReadOnly: []string{filepath.Dir(self)}})
		dir := must(s.TempDir())
		defer s.Discard(dir)
		got := run(t, s, sandbox.Cmd{Path: self, Args: []string{"host"}, Workdir: dir, Env: s.Env(dir, nil, map[string]string{helperEnv: "nested"})}, "")
		if got.exit.Code != 0 || got.out != "nested\n" {
			t.Errorf("got %+v", got)
		}
	})
}

func TestProbeFails(t *testing.T) {
	if s, err := sandbox.New(&sandbox.Options{Require: sandbox.Bwrap}); err != nil {
		needs(t, "bwrap", err)
	} else {
		s.Close()
	}
	for _, name := range []string{"no-namespaces", "no-landlock", "neither", "vanish", "reaper", "listener"} {
		t.Run(name, func(t *testing.T) {
			out, err := helper(name).CombinedOutput()
			if err != nil {
				t.Errorf("%v: %s", err, out)
			}
			t.Logf("%s", out)
		})
	}
}

func TestOptions(t *testing.T) {
	for name, o := range map[string]sandbox.Options{
		"mode":     {Require: 9},
		"relative": {ReadOnly: []string{"usr"}},
		"nul":      {Writable: []string{"/a\x00b"}},
		"limit":    {Limits: sandbox.Limits{Memory: -2}},
	} {
		if _, err := sandbox.New(&o); !errors.Is(err, codeinterp.ErrInvalid) {
			t.Errorf("%s: got %v", name, err)
		}
	}
	if _, err := sandbox.New(&sandbox.Options{AllowNone: true, Cgroup: t.TempDir()}); !errors.Is(err, codeinterp.ErrIsolation) {
		t.Errorf("cgroup: got %v", err)
	}
}
