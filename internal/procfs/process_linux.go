package procfs

import (
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Children returns the children of a process's first thread, oldest first.
func Children(pid int) []int {
	b, _ := File(pid, "task/"+strconv.Itoa(pid)+"/children")
	return numbers(string(b))
}

func numbers(text string) (list []int) {
	for f := range strings.FieldsSeq(text) {
		if n, err := strconv.Atoi(f); err == nil {
			list = append(list, n)
		}
	}
	return list
}

// A Memory is the memory of a process in bytes.
type Memory struct {
	Data         int64 // private, what RLIMIT_DATA counts but for the stack
	Tables, Swap int64 // no part of the resident size
}

// ReadMemory reads the Memory of a process, zero if it has ended.
func ReadMemory(pid int) Memory {
	b, _ := File(pid, "status")
	return Memory{kilobytes(b, "VmData"), kilobytes(b, "VmPTE"), kilobytes(b, "VmSwap")}
}

// kilobytes adds up lines such as "VmPTE: 12 kB", in bytes.
func kilobytes(b []byte, keys ...string) (sum int64) {
	for line := range strings.Lines(string(b)) {
		if key, value, _ := strings.Cut(line, ":"); slices.Contains(keys, key) {
			n, _ := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 10, 64)
			sum += n << 10
		}
	}
	return sum
}

// PSS returns the memory of a process: its private pages, what is swapped out, and of
// pages shared by n processes the n-th part. Pages of files do not count, the kernel can
// drop them.
func PSS(pid int) (int64, error) {
	b, err := File(pid, "smaps_rollup")
	return kilobytes(b, "Pss_Anon", "Pss_Shmem", "SwapPss"), err
}

// readFile spends one buffer and three system calls, since the sandbox reads these files
// all the time.
func readFile(path string) ([]byte, error) {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
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
