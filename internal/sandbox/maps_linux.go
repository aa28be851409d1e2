package sandbox

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"runtime"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// maxMaps bounds what is read of one process's mappings: as many as the kernel
	// allows are some 6 MiB, unless their paths are long.
	maxMaps = 16 << 20
	maxLine = 64 << 10

	// maxReading bounds the processor time that goes into one look at what a tree
	// maps. It is no matter how busy the machine is.
	maxReading = 250 * time.Millisecond
)

// A reading is the processor time that a goroutine spends, which keeps its thread
// until end.
type reading struct {
	limit time.Duration
	n     int // times that over was asked
	done  bool
}

func startReading() *reading {
	runtime.LockOSThread()
	return &reading{limit: threadTime() + maxReading}
}

func (*reading) end() { runtime.UnlockOSThread() }

// over reports whether the time is up. It costs little mostly.
func (r *reading) over() bool {
	if r.n++; r.n%64 == 0 {
		r.look()
	}
	return r.done
}

// look sees whether the time is up, behind what can take long.
func (r *reading) look() { r.done = r.done || threadTime() > r.limit }

func threadTime() time.Duration {
	var ts unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &ts)
	return time.Duration(ts.Nano())
}

var deleted = []byte(" (deleted)")

// namelessMaps calls f with the lines about files without a name in a process's
// mappings, until it returns false, and reports whether there are no others: a
// program can have more lines, and longer ones, than anybody would read.
func namelessMaps(pid int, r *reading, f func(line string) bool) (all bool) {
	file, err := os.Open("/proc/" + strconv.Itoa(pid) + "/maps")
	if err != nil {
		return true // it has ended, or is closed
	}
	defer file.Close()
	rest := &io.LimitedReader{R: file, N: maxMaps}
	sc := bufio.NewScanner(rest)
	sc.Buffer(nil, maxLine)
	for sc.Scan() {
		if bytes.HasSuffix(sc.Bytes(), deleted) && !f(sc.Text()) {
			return true
		}
		if r.over() {
			return false
		}
	}
	return rest.N > 0 && sc.Err() != bufio.ErrTooLong
}
