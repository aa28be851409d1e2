//go:build unix && !linux

package rootfs

import "context"

// Watches is what tells Linux hosts which files may have changed. Elsewhere
// FSs look at all of them.
type Watches struct{}

// NewWatches returns Watches.
func NewWatches() *Watches { return &Watches{} }

// Close implements io.Closer.
func (w *Watches) Close() error { return nil }

type tree struct{}

type mark struct{}

func (w *Watches) tree(*FS) *tree { return nil }

func (t *tree) release() {}

func (t *tree) snapshot(context.Context, *Snapshot) bool { return false }

func (m *mark) changes(context.Context, *finds) bool { return false }
