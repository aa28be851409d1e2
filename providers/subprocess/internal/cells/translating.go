package cells

import (
	"context"
	"runtime/debug"

	"github.com/toolcell/toolcell/internal/room"
	"github.com/toolcell/toolcell/internal/typescript"
)

const (
	// maxTranslating is about how many bytes programs take at a time that are erased,
	// outlined and adapted. Those of largeTranslating each, of which one takes seconds,
	// have a room of their own, and what one took is collected before the next one
	// takes more; those of up to small are not counted.
	maxTranslating   = 512 << 20
	largeTranslating = 64 << 20
	small            = 64 << 10
)

// translationRooms are what the programs take of memory that the process translates.
type translationRooms struct{ large, others room.Room }

var translations translationRooms

// Wait waits for the memory that a program of a size takes until it is one for
// the driver, which free gives back. Its error is ctx's.
func Wait(ctx context.Context, size int) (free func(), err error) {
	if size <= small {
		return func() {}, nil
	}
	n := int(4 * typescript.Memory(size)) // also of what adapt makes of the outline, and as much garbage
	of := &translations.others
	if n >= largeTranslating {
		of = &translations.large
	}
	if !of.Take(n, maxTranslating, ctx.Done(), nil) {
		return nil, ctx.Err()
	}
	return func() {
		if n >= largeTranslating {
			debug.FreeOSMemory()
		}
		of.Free(n)
	}, nil
}
