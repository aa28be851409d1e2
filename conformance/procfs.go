package conformance

import (
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// clockTick is the unit of CPU time in /proc, fixed by Linux's ABI.
const clockTick = time.Second / 100

// A process is a line of /proc/<pid>/stat.
type process struct {
	pid, parent int
	zombie      bool
	cpu         time.Duration
	name        string
}

// processes lists the processes of the machine; false where there is no /proc.
func processes() ([]process, bool) {
	paths, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil || len(paths) == 0 {
		return nil, false
	}
	var list []process
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			continue
		}
		if p, ok := parseStat(string(data)); ok {
			list = append(list, p)
		}
	}
	return list, true
}

// parseStat reads the format of proc_pid_stat(5).
func parseStat(line string) (process, bool) {
	head, rest, ok := strings.Cut(line, " (")
	end := strings.LastIndex(rest, ") ")
	if !ok || end < 0 {
		return process{}, false
	}
	f := strings.Fields(rest[end+2:])
	if len(f) < 13 {
		return process{}, false
	}
	number := func(s string) int { n, _ := strconv.Atoi(s); return n }
	return process{
		pid: number(head), parent: number(f[1]), zombie: f[0] == "Z", name: rest[:end],
		cpu: time.Duration(number(f[11])+number(f[12])) * clockTick,
	}, true
}

// descendants lists this process's children and theirs.
func descendants() ([]process, bool) {
	all, ok := processes()
	if !ok {
		return nil, false
	}
	ours := map[int]bool{os.Getpid(): true}
	var list []process
	for grew := true; grew; {
		grew = false
		for _, p := range all {
			if ours[p.parent] && !ours[p.pid] {
				ours[p.pid], grew = true, true
				list = append(list, p)
			}
		}
	}
	return list, true
}

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

func threadTime() (time.Duration, bool) { return timeOf("/proc/thread-self/stat") }

func selfTime() (time.Duration, bool) { return timeOf("/proc/self/stat") }

func timeOf(path string) (time.Duration, bool) {
	line, err := os.ReadFile(path)
	if err != nil {
		return 0, false
	}
	p, ok := parseStat(string(line))
	return p.cpu, ok
}

func descendantsTime() (time.Duration, bool) {
	list, ok := descendants()
	var total time.Duration
	for _, p := range list {
		total += p.cpu
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
