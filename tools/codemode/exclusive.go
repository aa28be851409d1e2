package codemode

import (
	"context"
	"slices"
	"sync"
)

// A lock is held while it has an element.
type lock chan struct{}

// locks are the locks by their names.
type locks struct {
	mu  sync.Mutex
	all map[string]lock
}

// of returns the locks of names, always in the same order, which rules out a deadlock
// of two calls.
func (l *locks) of(names []string) []lock {
	names = slices.Compact(slices.Sorted(slices.Values(names)))
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.all == nil {
		l.all = map[string]lock{}
	}
	list := make([]lock, 0, len(names))
	for _, n := range names {
		if l.all[n] == nil {
			l.all[n] = make(lock, 1)
		}
		list = append(list, l.all[n])
	}
	return list
}

// hold waits for all locks, until ctx ends.
func hold(ctx context.Context, list []lock) (release func(), err error) {
	held := 0
	release = func() {
		for _, l := range list[:held] {
			<-l
		}
	}
	for _, l := range list {
		select {
		case l <- struct{}{}:
			held++
		case <-ctx.Done():
			release()
			return nil, context.Cause(ctx)
		}
	}
	return release, nil
}
