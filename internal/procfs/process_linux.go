package procfs

import (
	"strconv"
	"strings"
)

// Children returns the children of a process's first thread, oldest first.
func Children(pid int) []int {
	b, err := File(pid, "task/"+strconv.Itoa(pid)+"/children")
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

// IDInside returns a process's id in its own namespace, 0 if unknown.
func IDInside(pid int) int {
	b, err := File(pid, "status")
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

// A Memory is what /proc/<pid>/status says about a process's memory, in bytes.
type Memory struct {
	Data         int64 // private, what RLIMIT_DATA counts but for the stack
	Touched      int64 // the part of the resident size that is no file's
	Tables, Swap int64 // no part of the resident size
}

// ReadMemory reads the Memory of a process, zero if it has ended.
func ReadMemory(pid int) Memory {
	b, err := File(pid, "status")
	if err != nil {
		return Memory{}
	}
	var m Memory
	for line := range strings.Lines(string(b)) {
		key, value, _ := strings.Cut(line, ":")
		switch key {
		case "VmData":
			m.Data = kilobytes(value)
		case "RssAnon", "RssShmem":
			m.Touched += kilobytes(value)
		case "VmPTE":
			m.Tables = kilobytes(value)
		case "VmSwap":
			m.Swap = kilobytes(value)
		}
	}
	return m
}

// kilobytes reads a value such as "  12 kB", in bytes.
func kilobytes(s string) int64 {
	n, _ := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(s), " kB"), 10, 64)
	return n << 10
}

// PSS returns the memory of a process: its private pages, what is swapped out, and of
// pages shared by n processes the n-th part. Pages of files do not count, the kernel can
// drop them.
func PSS(pid int) (sum int64, err error) {
	b, err := File(pid, "smaps_rollup")
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
