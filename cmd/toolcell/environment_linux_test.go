//go:build real

package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/toolcell/toolcell/environments"
	"github.com/toolcell/toolcell/internal/leftover"
)

// TestEnvironmentKilled: a command that is killed while it makes an environment
// leaves nothing that another takes for whole, and two that ask at once then
// make one.
func TestEnvironmentKilled(t *testing.T) {
	base, err := filepath.Abs("../../.testenv/python/bin/python")
	if _, gone := os.Stat(base); err != nil || gone != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("no .testenv/python; run make testenv")
		}
		t.Skip("no .testenv/python; run make testenv")
	}
	root := leftover.Dir(t)
	create := func(name string) (kill func(), wait func() (bool, string)) {
		cmd := command(t, "env", "create", name, "six==1.17.0", "--python", base)
		cmd.Env = append(cmd.Env, "TOOLCELL_ENVIRONMENTS="+root)
		var out strings.Builder
		cmd.Stdout, cmd.Stderr = &out, &out
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		return func() { cmd.Process.Kill() }, func() (bool, string) { return cmd.Wait() == nil, out.String() }
	}
	kill, wait := create("a")
	for end := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		if half := halves(root); len(half) > 0 || time.Now().After(end) {
			break
		}
	}
	kill()
	if ok, _ := wait(); ok {
		t.Log("it was made before it could be killed")
	} else if names, err := environmentNames(root); err != nil || len(names) > 0 {
		t.Errorf("half an environment has the names %q, %v", names, err)
	}
	_, first := create("b")
	_, second := create("c")
	for _, wait := range []func() (bool, string){first, second} {
		if ok, said := wait(); !ok {
			if os.Getenv("CI") != "" {
				t.Fatal(said)
			}
			t.Skip("no environment can be made here: ", strings.Join(strings.Fields(said), " "))
		}
	}
	b, errB := openNamed(root, "b")
	c, errC := openNamed(root, "c")
	if errB != nil || errC != nil || b.ID != c.ID {
		t.Fatalf("two at once made %+v, %+v, %v, %v", b, c, errB, errC)
	}
	if _, _, err := environments.Sweep(t.Context(), root, 1<<40, nil); err != nil || len(halves(root)) > 0 {
		t.Errorf("left is %q, %v", halves(root), err)
	}
}

// halves returns the directories in which environments are being made, behind walls
// or without any.
func halves(root string) []string {
	half, _ := filepath.Glob(filepath.Join(root, "*.new"))
	inside, _ := filepath.Glob(filepath.Join(root, "toolcell-sandbox-*", "*", "env"))
	return append(half, inside...)
}
