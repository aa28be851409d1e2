package inmemory_test

import (
	"context"
	"os"
	"strconv"
	"strings"
	"testing"

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
