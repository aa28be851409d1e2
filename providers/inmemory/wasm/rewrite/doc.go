// Package rewrite changes a WebAssembly module so that it can be stopped, and takes its
// data out of it.
//
//	m, err := rewrite.Module(source, "host.yield")
//
// Every loop counts down, and calls an imported function when its fuel is spent.
// memory.copy and memory.fill are charged by their length and done in pieces. So a module
// never computes for long, a fraction of a millisecond on common machines, without a call
// of the host, which may stop it there by a panic.
//
// Exceptions become plain code: each call that may throw is followed by a test of a global,
// and a function that does not catch returns zeros to its caller. An exception that leaves
// an exported function stays in the global that is exported as Pending.
//
// The data segments become part of the result: the machine that runs the module maps an
// image that holds them.
//
// # Limits
//
//   - One memory of 32-bit addresses, functions and globals; sections and instructions that
//     are not known are refused, as are a start function, threads, passive segments, the
//     older form of exceptions, and tags with other values than 32 bits.
//   - Types are not checked: what compiles the result does that.
//   - Recursion that passes no loop is not counted. The machine's stack bounds its depth.
package rewrite

import (
	"crypto/sha256"
	"embed"
	"io/fs"
	"strings"
	"sync"
)

//go:embed *.go *.txt
var source embed.FS

// Version returns a checksum of this package: another one may change modules differently.
var Version = sync.OnceValue(func() (sum [sha256.Size]byte) {
	h := sha256.New()
	names, _ := fs.Glob(source, "*") // the pattern is valid
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		data, _ := source.ReadFile(name) // which is embedded
		h.Write(data)
	}
	h.Sum(sum[:0])
	return sum
})
