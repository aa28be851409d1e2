//go:build !unix

package probecache

import "os"

func private(os.FileInfo) bool { return false }

// Stamp changes when a file does.
func Stamp(string) string { return "" }

// Machine returns nothing.
func Machine() string { return "" }
