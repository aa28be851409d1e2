package inmemory_test

import (
	"bytes"
	"context"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/providers/inmemory"
)

// open returns an interpreter that is closed with the test.
func open(tb testing.TB, o *inmemory.Options) *inmemory.Stateful {
	tb.Helper()
	s, err := inmemory.NewStateful(o)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := s.Close(); err != nil {
			tb.Error(err)
		}
	})
	return s
}

// create returns a new context.
func create(tb testing.TB, s *inmemory.Stateful, language string) codeinterp.ContextID {
	tb.Helper()
	id, err := s.CreateContext(context.Background(), language, nil)
	if err != nil {
		tb.Fatal(err)
	}
	return id
}

// run runs code in a context.
func run(tb testing.TB, s *inmemory.Stateful, id codeinterp.ContextID, code string, o *codeinterp.RunOptions) codeinterp.Result {
	tb.Helper()
	res, err := s.RunInContext(context.Background(), id, code, o)
	if err != nil {
		tb.Fatalf("%s: %v", code, err)
	}
	return res
}

// residentBytes returns the process's resident memory; the test is skipped
// where that is not to be had.
func residentBytes(tb testing.TB) int64 {
	tb.Helper()
	b, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		tb.Skip("no /proc/self/statm: resident memory is unknown")
	}
	pages, err := strconv.ParseInt(strings.Fields(string(b))[1], 10, 64)
	if err != nil {
		tb.Fatal(err)
	}
	return pages * int64(os.Getpagesize())
}

// cpuTime returns how long the process has computed, to some 10 ms; the test
// is skipped where that is not to be had.
func cpuTime(tb testing.TB) time.Duration {
	tb.Helper()
	b, err := os.ReadFile("/proc/self/stat")
	if err != nil {
		tb.Skip("no /proc/self/stat: the time of computing is unknown")
	}
	fields := strings.Fields(string(b[bytes.LastIndexByte(b, ')')+1:]))
	var ticks int64
	for _, f := range fields[11:13] {
		n, err := strconv.ParseInt(f, 10, 64)
		if err != nil {
			tb.Fatal(err)
		}
		ticks += n
	}
	return time.Duration(ticks) * (time.Second / 100)
}
