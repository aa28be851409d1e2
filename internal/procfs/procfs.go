// Package procfs reads the files of Linux about processes. Elsewhere its functions find
// nothing.
package procfs

import (
	"errors"
	"os"
	"strconv"
	"strings"
	"time"
)

// A Stat is /proc/<pid>/stat; see proc_pid_stat(5).
type Stat struct {
	PID, Parent, Group int
	TTY                int // the controlling terminal, 0 for none
	Name               string
	State              byte // 'R', 'S', 'Z' and so on
	Threads            int
	Own, All           time.Duration // CPU time, without and with children that it waited for
	Start              uint64        // ticks after boot: with PID, the process's identity
	RSS                int64         // bytes
}

// clockTick is the unit of times in /proc: USER_HZ is 100 on Linux.
const clockTick = time.Second / 100

var errMalformed = errors.New("malformed stat of a process")

// Read reads the Stat of a process.
func Read(pid int) (Stat, error) { return read("/proc/" + strconv.Itoa(pid) + "/stat") }

// Thread reads the Stat of the calling thread, as if it were a process.
func Thread() (Stat, error) { return read("/proc/thread-self/stat") }

func read(path string) (Stat, error) {
	b, err := readFile(path)
	if err != nil {
		return Stat{}, err
	}
	return parse(string(b))
}

func parse(text string) (Stat, error) {
	id, rest, ok := strings.Cut(text, " (")
	end := strings.LastIndexByte(rest, ')')
	if !ok || end < 0 {
		return Stat{}, errMalformed
	}
	pid, err := strconv.Atoi(id)
	f := strings.Fields(rest[end+1:])
	if err != nil || len(f) < 22 || len(f[0]) != 1 || f[0][0] < 'A' {
		return Stat{}, errMalformed
	}
	num := func(field int) int64 { n, _ := strconv.ParseInt(f[field-3], 10, 64); return n }
	s := Stat{
		PID: pid, Name: rest[:end], State: f[0][0], Parent: int(num(4)), Group: int(num(5)), TTY: int(num(7)),
		Threads: int(num(20)), RSS: num(24) * int64(os.Getpagesize()),
	}
	s.Own = time.Duration(num(14)+num(15)) * clockTick
	s.All = s.Own + time.Duration(num(16)+num(17))*clockTick
	s.Start, _ = strconv.ParseUint(f[22-3], 10, 64)
	return s, nil
}

// File reads a small file of a process: its first 4 KiB.
func File(pid int, name string) ([]byte, error) {
	return readFile("/proc/" + strconv.Itoa(pid) + "/" + name)
}

// PIDs lists the processes of the machine that can be seen.
func PIDs() []int {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1)
	list := make([]int, 0, len(names))
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil {
			list = append(list, pid)
		}
	}
	return list
}

// Descendants lists this process's children and theirs; false where there is no
// /proc.
func Descendants() ([]Stat, bool) {
	var all []Stat
	for _, pid := range PIDs() {
		if s, err := Read(pid); err == nil {
			all = append(all, s)
		}
	}
	ours := map[int]bool{os.Getpid(): true}
	var list []Stat
	for grew := true; grew; {
		grew = false
		for _, s := range all {
			if ours[s.Parent] && !ours[s.PID] {
				ours[s.PID], grew = true, true
				list = append(list, s)
			}
		}
	}
	return list, len(all) > 0
}
