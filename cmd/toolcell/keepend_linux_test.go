package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/toolcell/toolcell/cmd/toolcell/internal/keeper"
	"github.com/toolcell/toolcell/internal/leftover"
)

// TestKeptEnds: however a caller or a keeper goes, the program goes too, and is not
// run again.
func TestKeptEnds(t *testing.T) {
	for name, tt := range map[string]struct {
		end  func(k *keepTest, cmd *exec.Cmd)
		code int
		said string
	}{
		"the caller is killed":      {func(_ *keepTest, cmd *exec.Cmd) { cmd.Process.Kill() }, -1, ""},
		"the caller is interrupted": {func(_ *keepTest, cmd *exec.Cmd) { cmd.Process.Signal(os.Interrupt) }, 130, "toolcell: stopped\n"},
		"the caller is terminated":  {func(_ *keepTest, cmd *exec.Cmd) { cmd.Process.Signal(syscall.SIGTERM) }, 130, "toolcell: stopped\n"},
		"the keeper is killed": {func(k *keepTest, _ *exec.Cmd) {
			_, pid := k.served()
			syscall.Kill(pid, syscall.SIGKILL)
		}, 1, "toolcell: the keeper ended while it served this call: what the program did until then is done, and it is not run again\n"},
	} {
		t.Run(name, func(t *testing.T) {
			k := newKeepTest(t)
			args, alive := k.beats()
			k.warm(args[:len(args)-2]...)
			cmd, said := k.start(args...)
			tt.end(k, cmd)
			_ = cmd.Wait()
			if code := cmd.ProcessState.ExitCode(); code != tt.code || said.String() != tt.said {
				t.Errorf("code %d, %q; want %d, %q", code, said, tt.code, tt.said)
			}
			k.until("the program's end", func() bool { return !alive() })
			if e := finish(k.command(append(append([]string{"run"}, keptFlags...), "-e", "1")...), ""); e != (ended{0, "1\n", ""}) {
				t.Errorf("the next run: %+v", e)
			}
		})
	}
}

// TestKeptFollowsTheCaller: what is in the caller's directory is what it is now, and
// names are what they are, also those that are no text.
func TestKeptFollowsTheCaller(t *testing.T) {
	k := newKeepTest(t)
	k.env = append(k.env, "ODD=\xe9")
	beside := filepath.Join(k.dir, "beside.py")
	flags := []string{"--keep", "30m", "--provider", "subprocess", "--allow-unsandboxed", "--preload", "beside"}
	inside := append(append([]string{}, flags...), "--dir", ".")
	for round, x := range []string{"old", "new, longer"} {
		if err := os.WriteFile(beside, []byte("x = '"+x+"'"), 0o644); err != nil {
			t.Fatal(err)
		}
		if round == 0 {
			k.warm(inside...)
		}
		e := finish(k.command(append(append([]string{"run"}, inside...), "-e", "import beside; print(beside.x)")...), "")
		if e.code != 0 || e.stdout != x+"\n" {
			t.Errorf("%+v, want %s", e, x)
		}
	}
	k.warm(flags...)
	finish(k.command(append(append([]string{"run"}, flags...), "--out", "out\xe9", "-e", "open('made', 'w').close()")...), "")
	if _, err := os.Stat(filepath.Join(k.dir, "out\xe9", "made")); err != nil {
		t.Error(err)
	}
	if runs, _ := k.served(); runs != 3 {
		t.Errorf("keepers served %d runs", runs)
	}
}

// TestKeptTwoAtOnce: who comes while the keeper is busy runs the program itself.
func TestKeptTwoAtOnce(t *testing.T) {
	k := newKeepTest(t)
	k.warm(keptFlags...)
	first := k.command(append(append([]string{"run"}, keptFlags...), "--stdin", "-e", "print('on', flush=True); print(input())")...)
	in, err := first.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := first.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := first.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(out, make([]byte, len("on\n"))); err != nil {
		t.Fatal(err)
	}
	if e := finish(k.command(append(append([]string{"run"}, keptFlags...), "-e", "2")...), ""); e != (ended{0, "2\n", ""}) {
		t.Errorf("the second: %+v", e)
	}
	in.Write([]byte("line\n"))
	in.Close()
	rest, _ := io.ReadAll(out)
	if err := first.Wait(); err != nil || string(rest) != "line\n" {
		t.Errorf("the first: %v, %q", err, rest)
	}
	if runs, _ := k.served(); runs != 1 {
		t.Errorf("the keeper served %d", runs)
	}
}

// TestKeeperLeaves: a keeper goes when nobody calls, when what it runs is gone, and
// when it is told to, and leaves nothing.
func TestKeeperLeaves(t *testing.T) {
	k := newKeepTest(t)
	env := filepath.Join(leftover.Dir(t), "venv")
	if out, err := exec.CommandContext(t.Context(), "python3", "-m", "venv", "--without-pip", env).CombinedOutput(); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatalf("%v: %s", err, out)
		}
		t.Skipf("python3 -m venv: %v: %s", err, strings.Join(strings.Fields(string(out)), " "))
	}
	flags := []string{"--provider", "subprocess", "--allow-unsandboxed", "--python", env + "/bin/python"}
	k.warm(append([]string{"--keep", "500ms"}, flags...)...)
	k.until("the idle keeper's end", func() bool { left, _ := filepath.Glob(k.run + "/*/*"); return len(left) == 0 })
	k.warm(append([]string{"--keep", "30m"}, flags...)...)
	if err := os.RemoveAll(env); err != nil {
		t.Fatal(err)
	}
	k.until("the end with the environment", func() bool { left, _ := filepath.Glob(k.run + "/*/*"); return len(left) == 0 })
	k.warm(keptFlags...)
	_, pid := k.served()
	if list := (&app{getenv: func(string) string { return k.run }}).kept(); len(list) != 1 || !strings.HasPrefix(list[0], fmt.Sprintf("%d  python, since ", pid)) {
		t.Errorf("doctor says %q of process %d", list, pid)
	}
	if e := finish(k.command("keep", "stop"), ""); e.code != 0 || !strings.Contains(e.stdout, "ended") {
		t.Errorf("%+v", e)
	}
	if left, _ := filepath.Glob(k.run + "/*/*"); len(left) > 0 {
		t.Errorf("left is %q", left)
	}
}

// TestStopAsksTheKeeper: a keeper is ended by itself, also for a caller with other
// rights, and no process whose number somebody wrote.
func TestStopAsksTheKeeper(t *testing.T) {
	k := newKeepTest(t)
	k.warm(keptFlags...)
	stop := k.command("keep", "stop")
	stop.Path, stop.Args = "/bin/sh", []string{"sh", "-c", `umask 077; ulimit -n 200; exec /proc/` + strconv.Itoa(os.Getpid()) + `/exe keep stop`}
	if e := finish(stop, ""); e.code != 0 || !strings.Contains(e.stdout, "ended") || len(k.sockets()) > 0 {
		t.Errorf("%+v", e)
	}
	victim := exec.CommandContext(t.Context(), "sleep", "60")
	if err := victim.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- victim.Wait() }()
	lock, err := k.place().Hold("planted")
	if err != nil {
		t.Fatal(err)
	}
	if err := lock.Note(keeper.Note{PID: victim.Process.Pid}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	for _, one := range k.place().List() {
		if err := k.place().Stop(ctx, one); err == nil {
			t.Errorf("%+v has ended", one)
		}
	}
	lock.Drop()
	select {
	case err := <-ended:
		t.Errorf("another process was ended: %v", err)
	default:
		_ = victim.Process.Kill()
		<-ended
	}
}

// TestNothingIsKeptElsewhere: a directory that others could use is not used, and a
// flag that cannot be followed is refused.
func TestNothingIsKeptElsewhere(t *testing.T) {
	k := newKeepTest(t)
	if e := finish(k.command("keep", "list"), ""); e.code != 0 {
		t.Fatalf("%+v", e)
	}
	places, _ := filepath.Glob(filepath.Join(k.run, "toolcell-keepers-*"))
	if len(places) != 1 {
		t.Fatalf("places: %q", places)
	}
	dir := places[0]
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	run := append(append([]string{"run"}, keptFlags...), "-e", "1")
	if e := finish(k.command(run...), ""); e.code != 0 || e.stdout != "1\n" || !strings.Contains(e.stderr, "nothing is kept: ") || !strings.Contains(e.stderr, "open to others") {
		t.Errorf("%+v", e)
	}
	if err := os.Remove(dir); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(t.TempDir(), dir); err != nil {
		t.Fatal(err)
	}
	if e := finish(k.command(run...), ""); e.code != 0 || !strings.Contains(e.stderr, "nothing is kept: ") {
		t.Errorf("%+v", e)
	}
	if err := os.Remove(dir); err != nil {
		t.Fatal(err)
	}
	for args, want := range map[string]string{
		"--keep 1m -e 1": "--keep goes with --provider subprocess", "--keep -1s --provider subprocess -e 1": "use a duration",
		"--keep 1m --provider subprocess --language javascript -e 1": "for Python programs", "--keep 1m --provider subprocess --install six -e 1": "without --install",
		"--keep 1m x.ipynb": "not for notebooks",
	} {
		if e := finish(k.command(append([]string{"run"}, strings.Fields(args)...)...), ""); e.code != 2 || !strings.Contains(e.stderr, want) {
			t.Errorf("%s: %+v", args, e)
		}
	}
	k.env = append(k.env, "TOOLCELL_KEEP=1m")
	if e := finish(k.command("run", "-e", "1"), ""); e != (ended{0, "1\n", ""}) {
		t.Errorf("%+v", e)
	}
}
