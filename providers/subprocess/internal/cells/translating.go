package cells

import (
	"context"
	"runtime/debug"

	"golang.org/x/sync/semaphore"

	"github.com/toolcell/toolcell/internal/typescript"
)

const (
	// maxTranslating is about how many bytes programs take at a time that are erased or
	// have words replaced. Those of largeTranslating each, of which one takes seconds,
	// have a room of their own, and what one took is collected before the next one
	// takes more; those of up to small are not counted.
	maxTranslating   = 512 << 20
	largeTranslating = 64 << 20
	small            = 64 << 10
)

// large and others are the memory that programs take while they are translated.
var large, others = semaphore.NewWeighted(maxTranslating), semaphore.NewWeighted(maxTranslating)

// Wait waits for the memory that a program of a size takes until it is one for
// the driver, which free gives back. Its error is ctx's.
func Wait(ctx context.Context, size int) (free func(), err error) {
	if size <= small {
		return func() {}, nil
	}
	// Also of the words that are replaced, and as much garbage; there is room for one alone.
	n := min(4*typescript.Memory(size), maxTranslating)
	of := others
	if n >= largeTranslating {
		of = large
	}
	if err := of.Acquire(ctx, n); err != nil {
		return nil, err
	}
	return func() {
		if n >= largeTranslating {
			debug.FreeOSMemory()
		}
		of.Release(n)
	}, nil
}
