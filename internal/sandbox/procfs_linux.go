package sandbox

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A stat is what /proc/<pid>/stat tells; see proc_pid_stat(5).
type stat struct {
	pid, ppid, pgrp int
	state           byte
	threads         int
	own, all        time.Duration // CPU time, without and with children that it waited for
	start           uint64        // ticks after boot: with pid, the process's identity
	rss             int64         // bytes
}

// clockTick is the unit of times in /proc: USER_HZ is 100 on Linux.
const clockTick = time.Second / 100

func readStat(pid int) (stat, error) {
	b, err := readProc(pid, "stat")
	if err != nil {
		return stat{}, err
	}
	return parseStat(pid, string(b))
}

func parseStat(pid int, text string) (stat, error) {
	bad := fmt.Errorf("malformed /proc/%d/stat", pid)
	i := strings.LastIndexByte(text, ')')
	if i < 0 {
		return stat{}, bad
	}
	f := strings.Fields(text[i+1:])
	if len(f) < 22 || len(f[0]) != 1 || f[0][0] < 'A' {
		return stat{}, bad
	}
	num := func(field int) int64 { n, _ := strconv.ParseInt(f[field-3], 10, 64); return n }
	s := stat{pid: pid, state: f[0][0], ppid: int(num(4)), pgrp: int(num(5)), threads: int(num(20)), rss: num(24) * int64(os.Getpagesize())}
	s.own = time.Duration(num(14)+num(15)) * clockTick
	s.all = s.own + time.Duration(num(16)+num(17))*clockTick
	s.start, _ = strconv.ParseUint(f[22-3], 10, 64)
	return s, nil
}

// readProc reads a small file of a process. It spends one buffer and three
// system calls, since the watchdog does this all the time.
func readProc(pid int, name string) ([]byte, error) {
	fd, err := unix.Open("/proc/"+strconv.Itoa(pid)+"/"+name, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	b := make([]byte, 4096)
	for n := 0; ; {
		k, err := unix.Read(fd, b[n:])
		switch {
		case err == unix.EINTR:
		case err != nil:
			return nil, err
		default:
			if n += k; k == 0 || n == len(b) {
				return b[:n], nil
			}
		}
	}
}

// pids lists the processes of the machine that can be seen.
func pids() []int {
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

// children returns the children of a process's first thread, oldest first.
func children(pid int) []int {
	b, err := readProc(pid, "task/"+strconv.Itoa(pid)+"/children")
	if err != nil {
		return nil
	}
	var list []int
	for f := range strings.FieldsSeq(string(b)) {
		if n, err := strconv.Atoi(f); err == nil {
			list = append(list, n)
		}
	}
	return list
}

// idInside returns a process's id in its own namespace, 0 if unknown.
func idInside(pid int) int {
	b, err := readProc(pid, "status")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(b)) {
		if ids, ok := strings.CutPrefix(line, "NSpid:"); ok {
			f := strings.Fields(ids)
			n, _ := strconv.Atoi(f[len(f)-1])
			return n
		}
	}
	return 0
}

// A memory is what /proc/<pid>/status tells about a process's memory, in bytes.
type memory struct {
	data         int64 // private, what RLIMIT_DATA counts but for the stack
	tables, swap int64 // no part of the resident size
}

func readMemory(pid int) memory {
	b, err := readProc(pid, "status")
	if err != nil {
		return memory{}
	}
	var m memory
	for line := range strings.Lines(string(b)) {
		key, value, _ := strings.Cut(line, ":")
		switch key {
		case "VmData":
			m.data = kilobytes(value)
		case "VmPTE":
			m.tables = kilobytes(value)
		case "VmSwap":
			m.swap = kilobytes(value)
		}
	}
	return m
}

// kilobytes reads a value such as "  12 kB", in bytes.
func kilobytes(s string) int64 {
	n, _ := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(s), " kB"), 10, 64)
	return n << 10
}

// share returns the memory that a process is to blame for: its private pages,
// and of pages that it shares with n-1 others the n-th part. Pages of files
// do not count, the kernel can drop them.
func share(pid int) (int64, error) {
	b, err := readProc(pid, "smaps_rollup")
	if err != nil {
		return 0, err
	}
	total := int64(0)
	for line := range strings.Lines(string(b)) {
		key, value, _ := strings.Cut(line, ":")
		switch key {
		case "Pss_Anon", "Pss_Shmem", "SwapPss":
			total += kilobytes(value)
		}
	}
	return total, nil
}

// preferVictim has the kernel take a process, and what it starts, before the
// host when memory is short.
func preferVictim(pid int) {
	_ = os.WriteFile("/proc/"+strconv.Itoa(pid)+"/oom_score_adj", []byte("1000"), 0)
}

// oomKills returns how many processes the kernel has killed for want of memory
// since it was started.
func oomKills() int64 {
	b, err := os.ReadFile("/proc/vmstat")
	if err != nil {
		return 0
	}
	_, rest, ok := strings.Cut(string(b), "\noom_kill ")
	if !ok {
		return 0
	}
	line, _, _ := strings.Cut(rest, "\n")
	n, _ := strconv.ParseInt(strings.TrimSpace(line), 10, 64)
	return n
}

// reapsOrphans reports whether orphans of other processes become children of
// this one: it is the first of its container, or asked for them.
func reapsOrphans() bool {
	var on int32
	_, _, e := unix.Syscall(unix.SYS_PRCTL, unix.PR_GET_CHILD_SUBREAPER, uintptr(unsafe.Pointer(&on)), 0)
	return os.Getpid() == 1 || (e == 0 && on != 0)
}
