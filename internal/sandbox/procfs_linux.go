package sandbox

import (
	"os"
	"strconv"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/toolcell/toolcell/internal/procfs"
)

// children returns the children of a process's first thread, oldest first.
func children(pid int) []int {
	b, err := procfs.File(pid, "task/"+strconv.Itoa(pid)+"/children")
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
	b, err := procfs.File(pid, "status")
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
	touched      int64 // the part of the resident size that is no file's
	tables, swap int64 // no part of the resident size
}

func readMemory(pid int) memory {
	b, err := procfs.File(pid, "status")
	if err != nil {
		return memory{}
	}
	var m memory
	for line := range strings.Lines(string(b)) {
		key, value, _ := strings.Cut(line, ":")
		switch key {
		case "VmData":
			m.data = kilobytes(value)
		case "RssAnon", "RssShmem":
			m.touched += kilobytes(value)
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

// share returns the memory of a process: its private pages, what is swapped out, and of
// pages shared by n processes the n-th part. Pages of files do not count, the kernel can
// drop them.
func share(pid int) (sum int64, err error) {
	b, err := procfs.File(pid, "smaps_rollup")
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(b)) {
		key, value, _ := strings.Cut(line, ":")
		switch key {
		case "Pss_Anon", "Pss_Shmem", "SwapPss":
			sum += kilobytes(value)
		}
	}
	return sum, nil
}

// preferVictim makes the kernel kill a process, and what it starts, before the host
// when memory is short.
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
