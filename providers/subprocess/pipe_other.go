//go:build unix && !linux

package subprocess

// pipeSize returns how many bytes a pipe can hold at most.
func pipeSize(uintptr) int { return chunk }
