//go:build unix

package sandbox

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/toolcell/toolcell/codeinterp"
)

// check validates options that were given by the caller.
func (o *Options) check() error {
	if o.Require < Auto || o.Require > Bwrap {
		return fmt.Errorf("%w: mode %d", codeinterp.ErrInvalid, o.Require)
	}
	if o.Egress && o.Network {
		return fmt.Errorf("%w: Egress and Network", codeinterp.ErrInvalid)
	}
	if err := o.Limits.check(); err != nil {
		return err
	}
	return checkPaths(slices.Concat(o.ReadOnly, o.Writable))
}

func (l Limits) check() error {
	for _, v := range []int64{l.Memory, int64(l.Processes), l.CPU, l.FileSize, l.Disk, int64(l.Inodes), int64(l.OpenFiles)} {
		if v < -1 {
			return fmt.Errorf("%w: limit %d; use -1 for none", codeinterp.ErrInvalid, v)
		}
	}
	if l.Memory > 0 && l.Memory < minMemory {
		return fmt.Errorf("%w: a memory limit of %d bytes, in which nothing starts; Python needs some 16 MiB, which is 16 << 20", codeinterp.ErrInvalid, l.Memory)
	}
	return nil
}

// minMemory is less than any program starts in: a smaller limit was meant in
// another unit, and would pass for isolation that does not work.
const minMemory = 1 << 20

func checkPaths(list []string) error {
	for _, p := range list {
		if !filepath.IsAbs(p) || strings.ContainsRune(p, 0) {
			return fmt.Errorf("%w: path %q is not absolute", codeinterp.ErrInvalid, p)
		}
	}
	return nil
}

// checkNUL refuses what would end early as a C string, or, in the list of
// bubblewrap's options, begin another option.
func checkNUL(list []string) error {
	for _, s := range list {
		if strings.ContainsRune(s, 0) {
			return fmt.Errorf("%w: an argument or the environment has a NUL byte", codeinterp.ErrInvalid)
		}
	}
	return nil
}

// A plan is a Cmd that was checked and completed.
type plan struct {
	Cmd
	limits Limits
	ids    identity
	forked bool     // from a process whose uid it shares
	family []string // the directories of its copies too; nil if it cannot be forked
}

// An identity is the uid and gid that a program runs as; drop says that they are not the
// host's, own that they are not shared.
type identity struct {
	uid, gid  int
	drop, own bool
}

// plan checks c and fills in what it leaves open.
func (s *Sandbox) plan(c *Cmd) (*plan, error) {
	p := &plan{Cmd: *c, limits: c.Limits.or(s.opts.Limits)}
	for _, err := range []error{
		checkPaths(slices.Concat([]string{c.Path, c.Workdir}, c.ReadOnly, c.Writable)), c.Limits.check(),
		s.checkEgress(p), checkNUL(slices.Concat(c.Args, c.Env)),
	} {
		if err != nil {
			return nil, err
		}
	}
	if len(c.Args) == 0 {
		p.Args = []string{c.Path}
	}
	p.Files = slices.Clone(c.Files)
	for len(p.Files) < 3 {
		p.Files = append(p.Files, nil)
	}
	p.Workdir = filepath.Clean(c.Workdir)
	p.family = s.temp.family(p.Workdir)
	switch st, err := os.Lstat(p.Workdir); {
	case err != nil:
		return nil, fmt.Errorf("%w: working directory: %w", codeinterp.ErrInvalid, bare(err))
	case !st.IsDir():
		return nil, fmt.Errorf("%w: the working directory is no directory", codeinterp.ErrInvalid)
	}
	if p.Cwd != nil {
		now, err := p.Cwd.Again()
		if err != nil {
			return nil, err
		}
		now.Close()
	}
	return p, nil
}

// checkEgress refuses an Egress that Options did not ask for, and one in a sandbox that
// cannot keep programs from other ways out.
func (s *Sandbox) checkEgress(pl *plan) error {
	switch {
	case pl.Egress == nil:
		return nil
	case !s.opts.Egress:
		return fmt.Errorf("%w: Egress needs Options.Egress", codeinterp.ErrInvalid)
	case pl.Egress.Serve == nil && !pl.ForkServer:
		return fmt.Errorf("%w: Egress without Serve", codeinterp.ErrInvalid)
	}
	return nil
}

// bare takes the path off an error, which is nothing for callers to see.
func bare(err error) error {
	if e, ok := err.(*fs.PathError); ok {
		return e.Err
	}
	return err
}

// data returns the limit of private data, 0 for none.
func (p *plan) data() int64 { return max(p.limits.Memory, 0) }

// Limits returns what holds for every process whose Cmd says nothing else.
func (s *Sandbox) Limits() Limits { return s.opts.Limits }

// systemDirs are where systems keep programs and their libraries.
var systemDirs = []string{"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store", "/gnu/store"}

// SystemDirs returns the directories that every program may read and execute,
// in each mode, without their being listed in a Cmd.
func SystemDirs() []string { return slices.Clone(systemDirs) }

// set translates a wait status.
func (e *Exit) set(ws syscall.WaitStatus) {
	if !ws.Signaled() {
		e.Code = ws.ExitStatus()
		return
	}
	e.Signal = ws.Signal()
	e.Code = 128 + int(e.Signal)
	switch e.Signal {
	case syscall.SIGXCPU:
		e.Cause = codeinterp.CauseCPU
	case syscall.SIGXFSZ:
		e.Cause = codeinterp.CauseDisk
	default:
		e.Cause = codeinterp.CauseSignal
	}
}
