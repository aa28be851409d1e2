//go:build unix && !linux

package pump

// pipeSize returns how many bytes a pipe can hold at most.
func pipeSize(uintptr) int { return Chunk }

// widen does nothing: the size of pipes is the system's.
func widen(uintptr, *bool) {}
