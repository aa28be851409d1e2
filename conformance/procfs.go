package conformance

import (
	"os"
	"path/filepath"
	"runtime"
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

// running reports whether any process of the machine has arg among its
// arguments; false where there is no /proc.
func running(arg string) bool {
	paths, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			continue
		}
		for a := range strings.SplitSeq(string(data), "\x00") {
			if a == arg {
				return true
			}
		}
	}
	return false
}

// openFiles counts this process's file descriptors.
func openFiles() (int, bool) {
	list, err := os.ReadDir("/proc/self/fd")
	return len(list), err == nil
}
