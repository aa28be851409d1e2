package race

import (
	"os"
	"testing"
)

// Full tells tests to try everything with the race detector on as they do
// without it, as make race does.
func Full() bool { return os.Getenv("TOOLCELL_TEST_FULL") != "" }

// Less reports whether tests are to try a part of what they could: with the race
// detector on, and with -short.
func Less() bool { return (Enabled || testing.Short()) && !Full() }

// Some returns all, and some of it where tests are to try less.
func Some[N int | int64](all, some N) N {
	if Less() {
		return some
	}
	return all
}

// Short returns all, and with -short what is short.
func Short[N int | int64](all, short N) N {
	if testing.Short() {
		return short
	}
	return all
}

// Takes reports whether a test tries the i-th of its rows: with -short, one of so
// many, from the first.
func Takes(i, of int) bool { return !testing.Short() || i%of == 0 }

// Long skips a test with -short. It is for what takes seconds of a processor and
// tries in another set-up, or at another size, what others try: why says which.
func Long(t testing.TB, why string) {
	t.Helper()
	if testing.Short() {
		t.Skip("short: " + why)
	}
}
