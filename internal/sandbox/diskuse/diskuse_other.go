//go:build unix && !linux

// Package diskuse adds up the files of directories that untrusted programs change.
package diskuse

// Used returns nothing where the directories of programs are not measured.
func Used(string) (bytes int64, inodes int) { return 0, 0 }
