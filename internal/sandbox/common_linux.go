package sandbox

import (
	"fmt"
	"os"
	"slices"
	"sync"

	"golang.org/x/sys/unix"
)

// A commonRules is a ruleset with the rules of all that is no plan's own: what every
// program may read, what Options lists, and the paths of plans like the last one.
type commonRules struct {
	ruleset
	readOnly, writable []string
	paths              []resolvedPath
}

// A resolvedPath is a path and what it led to when its rule was made.
type resolvedPath struct {
	path string
	node node
}

// A node is what a path leads to, zero where the host sees nothing there. While a
// rule is about it, no other can have its number.
type node struct{ dev, ino uint64 }

func nodeOf(st *unix.Stat_t) node { return node{uint64(st.Dev), st.Ino} }

func (s *Sandbox) commonRules(readOnly, writable []string) (*commonRules, error) {
	made, err := newRuleset(s.abi, s.opts.Network)
	if err != nil {
		return nil, err
	}
	r := &commonRules{ruleset: *made, readOnly: slices.Clone(readOnly), writable: slices.Clone(writable)}
	if err := s.allowCommon(r); err != nil {
		r.file.Close()
		return nil, err
	}
	return r, nil
}

func (s *Sandbox) allowCommon(r *commonRules) error {
	for _, group := range []struct {
		paths  []string
		rights uint64
	}{
		{s.system.exec, rightsExec}, {s.system.read, rightsRead}, {s.system.bare, rightsRead}, {s.system.dev, rightsDev},
		{r.readOnly, rightsExec}, {r.writable, rightsWrite},
	} {
		for _, path := range group.paths {
			// What the host itself cannot see needs no rule: without one it stays
			// closed.
			n, err := r.allow(path, group.rights)
			if err != nil && !os.IsNotExist(err) && !os.IsPermission(err) {
				return fmt.Errorf("Landlock rule: %w", err)
			}
			r.paths = append(r.paths, resolvedPath{path, n})
		}
	}
	for _, h := range s.held {
		if _, err := r.allowAt(h.dir.fd(), h.rights()); err != nil {
			return fmt.Errorf("working directory: %w", err)
		}
	}
	return nil
}

// unchanged reports whether all paths lead to what they led to.
func (r *commonRules) unchanged() bool {
	for _, p := range r.paths {
		var st unix.Stat_t
		now := node{}
		if err := unix.Stat(p.path, &st); err == nil {
			now = nodeOf(&st)
		}
		if now != p.node {
			return false
		}
	}
	return true
}

// A rulesAhead keeps rules for the next start, made in the background:
// there is a rule for each of some dozen paths.
type rulesAhead struct {
	mu       sync.Mutex
	ready    *commonRules // nil if there are none
	stocking bool
	closed   bool
	idle     sync.WaitGroup
}

// take returns the rules that are ready, nil where there are none for these paths,
// or a path leads elsewhere by now.
func (a *rulesAhead) take(readOnly, writable []string) *commonRules {
	a.mu.Lock()
	r := a.ready
	a.ready = nil
	a.mu.Unlock()
	switch {
	case r == nil:
		return nil
	case !slices.Equal(r.readOnly, readOnly) || !slices.Equal(r.writable, writable) || !r.unchanged():
		r.file.Close()
		return nil
	}
	return r
}

// stock makes rules in the background, unless there are some.
func (a *rulesAhead) stock(make func() (*commonRules, error)) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed || a.stocking || a.ready != nil {
		return
	}
	a.stocking = true
	a.idle.Go(func() {
		r, err := make()
		a.mu.Lock()
		defer a.mu.Unlock()
		if a.stocking = false; err == nil {
			a.ready = r
		}
	})
}

// close drops what is ready.
func (a *rulesAhead) close() {
	a.mu.Lock()
	a.closed = true
	a.mu.Unlock()
	a.idle.Wait()
	if a.ready != nil {
		a.ready.file.Close()
		a.ready = nil
	}
}
