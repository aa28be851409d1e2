package race

import "os"

// Full tells tests to try everything with the race detector on as they do
// without it, as make race does.
func Full() bool { return os.Getenv("TOOLCELL_TEST_FULL") != "" }

// Some returns all, and with the race detector on some of it, where a test is not
// to try everything.
func Some[N int | int64](all, some N) N {
	if Enabled && !Full() {
		return some
	}
	return all
}
