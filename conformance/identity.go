package conformance

import (
	"context"
	"fmt"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
)

func identityChecks() []check {
	return []check{
		{
			name:   "IDsNotReused",
			clause: "the id of a deleted context is never given to another",
			scope:  stateful,
			run:    idsNotReused,
		},
		{
			name:   "DeletesApart",
			clause: "DeleteContext deletes the context that it names, also where others are deleted at the same time",
			scope:  stateful,
			run:    deletesApart,
		},
		{
			name:   "LastUsedMoves",
			clause: "ListContexts tells when a context was last used",
			scope:  stateful,
			needs:  []Feature{Manager},
			run:    lastUsedMoves,
		},
	}
}

func idsNotReused(ctx context.Context, e *env) error {
	used := map[codeinterp.ContextID]bool{}
	for range 4 {
		id, err := e.stateful().CreateContext(ctx, e.language, nil)
		if err != nil {
			return fmt.Errorf("CreateContext: %w", err)
		}
		if used[id] {
			return fmt.Errorf("the id %q was that of a context that was deleted", id)
		}
		used[id] = true
		if err := e.stateful().DeleteContext(ctx, id); err != nil {
			return fmt.Errorf("DeleteContext: %w", err)
		}
	}
	return nil
}

// deleteTime and deleteRounds are for how long and how often contexts are deleted
// at once: where that takes microseconds, few deletions meet.
const (
	deleteTime   = 300 * time.Millisecond
	deleteRounds = 50
)

// deletesApart deletes some contexts at once, beside runs in others, which it
// wants to live.
func deletesApart(ctx context.Context, e *env) error {
	kept, err := e.contexts(ctx, 3)
	if err != nil {
		return err
	}
	end := time.Now().Add(deleteTime)
	for range deleteRounds {
		if err := e.deleteBeside(ctx, kept); err != nil || e.s.cfg.Thrifty || time.Now().After(end) {
			return err
		}
	}
	return nil
}

func (e *env) contexts(ctx context.Context, n int) ([]codeinterp.ContextID, error) {
	list := make([]codeinterp.ContextID, n)
	for i := range list {
		var err error
		if list[i], err = e.context(ctx, nil); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// deleteBeside deletes as many contexts at once as are kept.
func (e *env) deleteBeside(ctx context.Context, kept []codeinterp.ContextID) error {
	doomed, err := e.contexts(ctx, len(kept))
	if err != nil {
		return err
	}
	start, errs := make(chan struct{}), make(chan error, len(doomed))
	for i, id := range doomed {
		go func() {
			<-start
			errs <- safely(func() error { return e.stateful().DeleteContext(ctx, id) })
		}()
		// Only to be in the way: whether the context works is looked at below.
		go func() { _, _ = e.runIn(ctx, kept[i], e.p.Print("x"), nil) }()
	}
	close(start)
	for range doomed {
		if err := <-errs; err != nil {
			return fmt.Errorf("DeleteContext: %w", err)
		}
	}
	for i := range kept {
		if err := e.noContext(ctx, doomed[i]); err != nil {
			return fmt.Errorf("a context that was deleted beside others: %w", err)
		}
		if err := e.do(ctx, kept[i], e.p.Print("x")); err != nil {
			return fmt.Errorf("a context that was not deleted: %w", err)
		}
	}
	return nil
}

func lastUsedMoves(ctx context.Context, e *env) error {
	id, err := e.context(ctx, nil)
	if err != nil {
		return err
	}
	used := func() (time.Time, error) {
		list, err := e.manager().ListContexts(ctx)
		if err != nil {
			return time.Time{}, fmt.Errorf("ListContexts: %w", err)
		}
		for _, info := range list {
			if info.ID == id {
				return info.LastUsed, nil
			}
		}
		return time.Time{}, fmt.Errorf("context %q is not listed", id)
	}
	before, err := used()
	if err != nil {
		return err
	}
	// More than the tick of a coarse clock.
	time.Sleep(20 * time.Millisecond)
	if err := e.do(ctx, id, e.p.Print("x")); err != nil {
		return err
	}
	after, err := used()
	if err == nil && !after.After(before) {
		err = fmt.Errorf("LastUsed is %v after a run, and was %v before", after, before)
	}
	return err
}
