//go:build unix

package subprocess

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/procfs"
)

// What an installation may take where nobody says otherwise: room for packages
// with libraries of gigabytes, which pip writes three times.
const (
	installTime = 30 * time.Minute
	installDisk = 16 << 30
)

// meterPause is the time between two looks at the installers.
const meterPause = 150 * time.Millisecond

// A meter bounds what an installation may write, and hold in memory, as npm
// does with what it fetches. Where the kernel tells what processes write, all of
// it counts, whether it is kept or not and wherever it lies, as in the installer's
// cache; elsewhere what lies in the directories.
type meter struct {
	limit int64
	dirs  []string
	over  context.CancelCauseFunc
	past  atomic.Int64 // what the installers that have ended wrote
}

// bounds returns the options with what is meant by zero.
func (o *EnvironmentOptions) bounds() *EnvironmentOptions {
	own := *o
	own.Timeout, own.Disk = cmp.Or(o.Timeout, installTime), cmp.Or(o.Disk, installDisk)
	return &own
}

// bounded returns a context that ends when an installation may not go on.
func bounded(ctx context.Context, o *EnvironmentOptions, dirs ...string) (context.Context, *meter, context.CancelFunc) {
	late := fmt.Errorf("%w: not installed within %v: %w", codeinterp.ErrUnavailable, o.Timeout, context.DeadlineExceeded)
	ctx, stop := context.WithTimeoutCause(ctx, o.Timeout, late)
	ctx, over := context.WithCancelCause(ctx)
	return ctx, &meter{limit: o.Disk, dirs: dirs, over: over}, func() { over(nil); stop() }
}

// watch looks at what a process group writes until done is closed.
func (m *meter) watch(group int, done <-chan struct{}) {
	var most int64
	tick := time.NewTicker(meterPause)
	defer tick.Stop()
	for looks := 1; ; looks++ {
		select {
		case <-done:
			m.past.Add(most)
			return
		case <-tick.C:
		}
		now, held := taken(group)
		// What a process wrote that nobody waited for is missing once it has ended.
		most = max(most, now)
		m.check(m.past.Load() + most + held)
		// Where the kernel tells nothing; and seldom, since it walks through all files.
		if most == 0 && looks%8 == 0 {
			m.weigh()
		}
	}
}

// weigh looks at what lies in the directories, all of which somebody wrote.
func (m *meter) weigh() {
	var n int64
	for _, dir := range m.dirs {
		n += bytesIn(dir)
	}
	m.check(n)
}

func (m *meter) check(n int64) {
	if n > m.limit {
		m.over(fmt.Errorf("%w: its installation takes more than %d MB", codeinterp.ErrQuota, m.limit/1_000_000))
	}
}

// taken returns how much the processes of a group have written, with the
// children that they have waited for, and how much they hold in memory: 0 where
// the kernel does not tell.
func taken(group int) (written, held int64) {
	for _, pid := range procfs.PIDs() {
		s, err := procfs.Read(pid)
		if err != nil || s.Group != group {
			continue
		}
		held += s.RSS
		text, _ := procfs.File(pid, "io")
		for line := range bytes.Lines(text) {
			var one int64
			if k, _ := fmt.Sscanf(string(line), "wchar: %d", &one); k == 1 {
				written += one
			}
		}
	}
	return written, held
}

// A tail keeps the end of what is written to it.
type tail struct{ b []byte }

// maxComplaint is how much of what an installer says is kept.
const maxComplaint = 16 << 10

func (t *tail) Write(p []byte) (int, error) {
	t.b = append(t.b, p[max(0, len(p)-maxComplaint):]...)
	t.b = append(t.b[:0], t.b[max(0, len(t.b)-maxComplaint):]...)
	return len(p), nil
}

func (t *tail) String() string { return string(t.b) }
