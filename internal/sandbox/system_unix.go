//go:build unix

package sandbox

import "slices"

// systemDirs are where systems keep programs and their libraries.
var systemDirs = []string{"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store", "/gnu/store"}

// SystemDirs returns the directories that every program may read and execute,
// in each mode, without their being listed in a Cmd.
func SystemDirs() []string { return slices.Clone(systemDirs) }
