package race

import "os"

// Full tells tests to try everything with the race detector on as they do
// without it, as make race does.
func Full() bool { return os.Getenv("TOOLCELL_TEST_FULL") != "" }
