package inmemory

import (
	"cmp"
	"fmt"
	"runtime"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/providers/inmemory/engine"
	"github.com/toolcell/toolcell/providers/inmemory/memfs"
	"github.com/toolcell/toolcell/providers/inmemory/quickjs"
)

// Options tunes an interpreter. The zero value is ready to use: JavaScript on
// QuickJS.
type Options struct {
	// Engines are the languages, at most one engine each. Nil means
	// quickjs.New(nil).
	Engines []engine.Engine

	// Limits bound each context and each stateless run. Fields that are zero
	// mean the engine's own default.
	Limits engine.Limits

	// MaxMemory bounds the memory of all contexts and runs together, in
	// bytes. Zero means 1 GiB.
	MaxMemory int64

	// MaxRunning is how many programs run at the same time; others wait in
	// line. Zero means GOMAXPROCS.
	MaxRunning int

	// MaxContexts bounds the number of contexts. Zero means as many as
	// MaxMemory has room for.
	MaxContexts int

	// MaxAbandoned is how many engines that could not be stopped may run on
	// before every further run is refused with ErrCapacity. Zero means
	// four.
	MaxAbandoned int

	// Files bounds the file system of each context and each stateless run. It is
	// not used where they share one.
	Files memfs.Options

	// Network, if set, lets JavaScript's fetch, and http.client and
	// urllib of Python, reach hosts; package fetch makes one. It
	// is the interpreter's, which closes it. Nil means that programs reach nothing.
	Network engine.Network

	// Shared is one file system for all contexts and stateless runs, which then
	// find each other's files, and can disturb one another by way of them. It
	// outlives the interpreter. Nil means that each has a file system of its own,
	// which ends with it.
	Shared *memfs.FS
}

// withDefaults checks o and returns a copy with defaults filled in.
func (o *Options) withDefaults() (Options, error) {
	var c Options
	if o != nil {
		c = *o
	}
	for name, n := range map[string]int64{"Limits.Memory": c.Limits.Memory, "Limits.Stack": int64(c.Limits.Stack),
		"MaxMemory": c.MaxMemory, "MaxRunning": int64(c.MaxRunning), "MaxContexts": int64(c.MaxContexts),
		"MaxAbandoned": int64(c.MaxAbandoned), "Files.MaxBytes": c.Files.MaxBytes, "Files.MaxFiles": int64(c.Files.MaxFiles)} {
		if n < 0 {
			return c, fmt.Errorf("%w: %s is %d; zero means the default", codeinterp.ErrInvalid, name, n)
		}
	}
	if c.Engines == nil {
		c.Engines = []engine.Engine{quickjs.New(nil)}
	}
	c.MaxMemory = cmp.Or(c.MaxMemory, 1<<30)
	c.MaxRunning = cmp.Or(c.MaxRunning, runtime.GOMAXPROCS(0))
	c.MaxAbandoned = cmp.Or(c.MaxAbandoned, 4)
	return c, nil
}
