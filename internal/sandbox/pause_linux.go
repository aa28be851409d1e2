package sandbox

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/procfs"
)

// PauseWay says how Pause stops processes.
func (s *Sandbox) PauseWay() string {
	if s.cgroups != nil {
		return "cgroup freezer"
	}
	return "SIGSTOP"
}

// Pause stops all processes of the sandbox; those that were stopped already stay so after
// Resume. Start and Fork.Adopt fail with ErrPaused until Resume. After an error nothing is
// stopped.
func (s *Sandbox) Pause(ctx context.Context) error {
	s.starts.Lock()
	defer s.starts.Unlock()
	if s.paused || s.live.isClosed() {
		return nil
	}
	if err := s.freeze(ctx); err != nil {
		s.thaw()
		return fmt.Errorf("%w: pause: %w", codeinterp.ErrUnavailable, err)
	}
	s.paused = true
	return nil
}

// Resume continues what Pause has stopped.
func (s *Sandbox) Resume() {
	s.starts.Lock()
	defer s.starts.Unlock()
	if s.paused {
		s.paused = false
		s.thaw()
	}
}

// freeze stops all trees.
func (s *Sandbox) freeze(ctx context.Context) error {
	for _, p := range s.live.list() {
		if g := p.ownCgroup(); g != nil {
			if err := g.freeze(ctx, true); err != nil {
				return err
			}
		}
	}
	defer s.continueOuter()
	list := s.members()
	s.stopped = map[int]uint64{}
	for _, st := range list {
		if st.State == 'T' {
			s.stopped[st.PID] = st.Start
		}
	}
	stopJobs(ctx, list)
	// A process with a pending SIGSTOP does not fork, and the kernel stops a group as a
	// whole. What has left its group is seen at the next look: nothing computes after two
	// that found all stopped.
	sent := map[int]uint64{}
	for still := 0; still < 2; list = s.members() {
		still++
		groups := map[int]bool{unix.Getpgrp(): true}
		for _, st := range list {
			// What waits in the kernel stops before it computes.
			if strings.IndexByte("TtZX", st.State) >= 0 || st.State == 'D' && sent[st.PID] == st.Start {
				continue
			}
			still, sent[st.PID] = 0, st.Start
			if !groups[st.Group] && st.Group > 1 {
				groups[st.Group] = true
				_ = unix.Kill(-st.Group, unix.SIGSTOP)
			}
			_ = unix.Kill(st.PID, unix.SIGSTOP)
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
	return nil
}

// continueOuter continues the bubblewraps, which stop with a group: they wait for the end
// of what they started.
func (s *Sandbox) continueOuter() {
	for _, p := range s.live.list() {
		p.mu.Lock()
		if p.mode == Bwrap && !p.ended {
			_ = p.send(unix.SIGCONT)
		}
		p.mu.Unlock()
	}
}

// maxJobs is how long Pause stops the processes of terminals one after the other, on a busy
// machine too.
const maxJobs = 5 * time.Second

// stopJobs stops what has a terminal, parents before their children: a shell that sees
// its job stop takes it for stopped by its user.
func stopJobs(ctx context.Context, list []procfs.Stat) {
	ctx, cancel := context.WithTimeout(ctx, maxJobs)
	defer cancel()
	for _, st := range list {
		if st.TTY == 0 || unix.Kill(st.PID, unix.SIGSTOP) != nil {
			continue
		}
		for ctx.Err() == nil {
			if st, err := procfs.Read(st.PID); err != nil || st.State != 'R' && st.State != 'S' {
				break
			}
			time.Sleep(50 * time.Microsecond)
		}
	}
}

// thaw continues all trees, children before their parents.
func (s *Sandbox) thaw() {
	for _, p := range s.live.list() {
		if g := p.ownCgroup(); g != nil {
			_ = g.freeze(context.Background(), false)
		}
	}
	list := s.members()
	slices.Reverse(list)
	for _, st := range list {
		if start, ok := s.stopped[st.PID]; !ok || start != st.Start {
			_ = unix.Kill(st.PID, unix.SIGCONT)
		}
	}
	s.stopped = nil
}

// members lists the processes of all trees without a cgroup of their own, the oldest
// first.
func (s *Sandbox) members() (list []procfs.Stat) {
	trees := slices.DeleteFunc(s.live.list(), func(p *proc) bool {
		p.mu.Lock()
		defer p.mu.Unlock()
		return p.ended || p.cgroup != nil
	})
	f := newForest(trees, nil)
	for _, st := range f.all {
		if f.tree(st) != nil {
			list = append(list, st)
		}
	}
	slices.SortFunc(list, func(a, b procfs.Stat) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.PID, b.PID))
	})
	return list
}

// ownCgroup returns the cgroup of a tree, nil if it has none or has ended.
func (p *proc) ownCgroup() *cgroup {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ended {
		return nil
	}
	return p.cgroup
}

// freeze stops or continues every process in it, and waits for that.
func (g *cgroup) freeze(ctx context.Context, on bool) error {
	value := "0"
	if on {
		value = "1"
	}
	if err := g.write("cgroup.freeze", value); err != nil {
		return err
	}
	for wait := 50 * time.Microsecond; on; wait = min(2*wait, 10*time.Millisecond) {
		b, err := os.ReadFile(filepath.Join(g.dir, "cgroup.events"))
		switch {
		case os.IsNotExist(err) || strings.Contains(string(b), "frozen 1"):
			return nil
		case err != nil:
			return bare(err)
		case ctx.Err() != nil:
			return context.Cause(ctx)
		}
		time.Sleep(wait)
	}
	return nil
}
