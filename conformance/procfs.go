package conformance

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/toolcell/toolcell/internal/procfs"
)

// cpuUsedBeside is the CPU time that this process and its descendants use while
// a loop of our own uses up the given time; false where there is no /proc.
func cpuUsedBeside(own time.Duration) (time.Duration, bool) {
	children, ok := descendantsTime()
	self, ok2 := selfTime()
	if !ok || !ok2 {
		return 0, false
	}
	burned := burn(own)
	selfAfter, _ := selfTime()
	childrenAfter, _ := descendantsTime()
	return selfAfter - self - burned + max(0, childrenAfter-children), true
}

// burn uses CPU time on a thread of its own, and returns how much it was.
func burn(d time.Duration) time.Duration {
	done := make(chan time.Duration)
	go func() {
		// The CPU time of a thread is the loop's alone as long as nothing else runs
		// on it.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		start, ok := threadTime()
		used := time.Duration(0)
		for n := 0; ok && used < d; n++ {
			if n%100_000 == 0 {
				now, _ := threadTime()
				used = now - start
			}
		}
		done <- used
	}()
	return <-done
}

func threadTime() (time.Duration, bool) {
	st, err := procfs.Thread()
	return st.Own, err == nil
}

func selfTime() (time.Duration, bool) {
	st, err := procfs.Self()
	return st.Own, err == nil
}

func descendantsTime() (time.Duration, bool) {
	list, ok := procfs.Descendants()
	var total time.Duration
	for _, st := range list {
		total += st.Own
	}
	return total, ok
}

// running finds a process of the machine that has arg among its arguments; false
// where there is no /proc. It looks at all of them, which takes long.
func running(arg string) (pid int, ok bool) {
	for _, pid := range procfs.PIDs() {
		if hasArg(pid, arg) {
			return pid, true
		}
	}
	return 0, false
}

// hasArg reports whether the process has arg among its arguments, of which one that has
// ended has none.
func hasArg(pid int, arg string) bool {
	data, err := procfs.File(pid, "cmdline")
	return err == nil && slices.Contains(strings.Split(string(data), "\x00"), arg)
}

// allGone waits for no process to have arg among its arguments.
func allGone(arg string, limit time.Duration) error {
	deadline := time.Now().Add(limit)
	for {
		pid, found := running(arg)
		for left := found; left; left = hasArg(pid, arg) {
			if time.Now().After(deadline) {
				return fmt.Errorf("the process %q is still running", "sleep "+arg)
			}
			time.Sleep(20 * time.Millisecond)
		}
		if !found {
			return nil
		}
	}
}

// openFiles counts this process's file descriptors.
func openFiles() (int, bool) {
	list, err := os.ReadDir("/proc/self/fd")
	return len(list), err == nil
}
