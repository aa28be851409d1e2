package subprocess

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestBashCalledOff: a run of bash is called off by the frames that are about it,
// whenever they come before it begins, and by no others.
func TestBashCalledOff(t *testing.T) {
	for _, tt := range []struct {
		name         string
		before, then []string // frames, around that of the run
		pause        time.Duration
		want         string
	}{
		{"before the run", []string{"I7", "K7"}, nil, 0, "interrupt"},
		{"around the run", []string{"I7"}, []string{"K7"}, 0, "interrupt"},
		{"with the run", nil, []string{"I7", "K7"}, 0, "interrupt"},
		{"late", []string{"I7"}, []string{"K7"}, 300 * time.Millisecond, "interrupt"},
		{"the run before", []string{"I6"}, []string{"K6"}, 0, "ok"},
		{"the run before, and this", []string{"I6"}, []string{"K6", "I7", "K7"}, 0, "interrupt"},
		{"none", nil, nil, 0, "ok"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			host, _, out := startBash(t)
			var b []byte
			about := func(list []string) {
				for _, f := range list {
					b = append(b, encode(f[0], f[1:])...)
				}
			}
			about(tt.before)
			b = append(b, encode(frameRun, "7", "true", "")...)
			if tt.pause == 0 {
				about(tt.then)
			}
			r := bufio.NewReader(host)
			host.Write(encode(frameConfigure, "", "PATH", os.Getenv("PATH")))
			await(t, r, frameHello, out)
			host.Write(b)
			if tt.pause > 0 {
				time.Sleep(tt.pause)
				b = nil
				about(tt.then)
				host.Write(b)
			}
			if f := await(t, r, frameDone, out); string(f.field(1)) != tt.want {
				t.Errorf("ended as %s, want %s", f.field(1), tt.want)
			}
		})
	}
}

// await reads frames until one of that kind comes.
func await(t *testing.T, r *bufio.Reader, kind byte, out fmt.Stringer) frame {
	t.Helper()
	for {
		f, err := readFrame(r, anyRoom)
		if err != nil {
			t.Fatalf("no %c: %v, %q", kind, err, out)
		}
		if f.kind == kind {
			return f
		}
	}
}

// TestBashCalledOffHalfway: an interrupt goes to whoever reads a large program for the
// shell, too, and ends the run alone.
func TestBashCalledOffHalfway(t *testing.T) {
	host, group, out := startBash(t)
	r := bufio.NewReader(host)
	host.Write(encode(frameConfigure, "", "PATH", os.Getenv("PATH")))
	await(t, r, frameHello, out)
	b := encode(frameRun, "7", "#"+strings.Repeat("x", 100_000), "")
	host.Write(b[:50_000])
	children := fmt.Sprintf("/proc/%d/task/%[1]d/children", group)
	reads := func() bool {
		list, _ := os.ReadFile(children)
		for _, pid := range strings.Fields(string(list)) {
			if list, _ := os.ReadFile("/proc/" + pid + "/task/" + pid + "/children"); len(list) > 0 {
				return true
			}
		}
		return false
	}
	for end := time.Now().Add(30 * time.Second); !reads() && time.Now().Before(end); time.Sleep(time.Millisecond) {
	}
	time.Sleep(50 * time.Millisecond)
	syscall.Kill(-group, syscall.SIGINT)
	host.Write(append(b[50_000:], append(encode(frameInterrupt, "7"), encode(frameSignaled, "7")...)...))
	if f := await(t, r, frameDone, out); string(f.field(1)) != "interrupt" {
		t.Errorf("ended as %s", f.field(1))
	}
}

// startBash starts the driver of bash in a group of its own, and returns the host's end
// of its channel and what it prints.
func startBash(t *testing.T) (host *os.File, group int, out *strings.Builder) {
	t.Helper()
	d := Bash().Driver
	args := slices.Clone(d.Args)
	args[slices.Index(args, DriverArg)] = d.Source
	pair, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	syscall.CloseOnExec(pair[0])
	host, theirs := os.NewFile(uintptr(pair[0]), "host"), os.NewFile(uintptr(pair[1]), "driver")
	cmd := exec.Command("bash", args...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.ExtraFiles = []*os.File{theirs}
	out = &strings.Builder{}
	cmd.Stdout, cmd.Stderr = out, out
	err = cmd.Start()
	theirs.Close()
	if err != nil {
		t.Fatal(err)
	}
	timer := time.AfterFunc(time.Minute, func() { cmd.Process.Kill() })
	t.Cleanup(func() {
		timer.Stop()
		host.Close()
		cmd.Process.Kill()
		cmd.Wait()
	})
	return host, cmd.Process.Pid, out
}
