//go:build unix && !linux

package subprocess

// pipeSize returns how many bytes a pipe can hold at most.
func pipeSize(uintptr) int { return chunk }

// widen does nothing: the size of pipes is the system's.
func widen(uintptr, *bool) {}
