package jupyter

import (
	"context"
	"crypto/rand"
	"errors"
	"io/fs"
	"math"
	"strings"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/codeinterp/driver"
	"github.com/toolcell/toolcell/internal/artifact"
	"github.com/toolcell/toolcell/providers/jupyter/internal/kernel"
)

const (
	// scanLimit bounds a look at all files of a directory, hashLimit at one.
	scanLimit, hashLimit = 30 * time.Second, 30 * time.Second

	// hashMost is how many bytes of one file are read.
	hashMost = 2 << 30

	// lookTime is how long is looked for artifacts after the order to stop.
	lookTime = 5 * time.Second
)

// remember makes the kernel list the directory before a run that asks for artifacts.
func (s *session) remember(ctx context.Context, p *driver.Program) (key string, err error) {
	if !p.Artifacts {
		return "", nil
	}
	if s.foreign {
		return "", errForeignFiles
	}
	key = rand.Text()
	_, err = s.k.Load().Look(ctx, &kernel.FileRequest{Op: "snapshot", Key: key}, scanLimit)
	return key, err
}

// look finds the artifacts of the run that has ended. If the kernel's process died, they
// are reported as missing.
func (s *session) look(ctx context.Context, p *driver.Program, key string, end *kernel.Ending) {
	if key == "" {
		return
	}
	l := &artifact.List{Data: s.opts.Once}
	defer func() { end.Artifacts, end.Missing = l.Done() }()
	k := s.k.Load()
	switch served, err := k.Served(); {
	case end.Lost && !end.Left:
		l.Gone()
		return
	case !served || err != nil || end.Left:
		l.Cut()
		return
	}
	stop := p.Taken()
	look, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	// A look that is cut short finds nothing, so the order to stop leaves it lookTime.
	go func() {
		select {
		case <-stop:
			time.AfterFunc(lookTime, cancel)
		case <-look.Done():
		}
	}()
	a, err := k.Look(look, &kernel.FileRequest{Op: "changes", Key: key, Most: codeinterp.MaxArtifacts}, scanLimit)
	if err != nil || a.Fault != "" || len(a.Entries) > codeinterp.MaxArtifacts {
		l.Cut()
		return
	}
	for i := range a.Entries {
		e := &a.Entries[i]
		// ValidPath wants UTF-8, which names of files need not be.
		if !fs.ValidPath(strings.ToValidUTF8(string(e.Name), "?")) {
			l.Cut() // no name of files.py
			continue
		}
		s.add(look, l, e)
	}
	l.More(int(min(a.More, math.MaxInt32)), a.Rest)
	if !a.Whole {
		l.Cut()
	}
}

// add puts a file on the list: with its content if that is wanted and there
// is room, else with what the kernel says of it.
func (s *session) add(ctx context.Context, l *artifact.List, e *kernel.FileEntry) {
	name := string(e.Name)
	if why := artifact.Kind(modeOf(e.Mode)); why != "" {
		l.Skip(name, e.Size, why)
		return
	}
	if l.Holds(e.Size) {
		d := directory{s: s, within: true}
		l.Add(ctx, name, e.Size, &file{d: d, name: name, id: e.ID, read: true})
		return
	}
	a, err := s.k.Load().Look(ctx, &kernel.FileRequest{Op: "hash", Name: e.Name, ID: e.ID, Most: hashMost}, hashLimit)
	switch {
	case err != nil || a.Fault == "late":
		l.Skip(name, e.Size, "not read in time")
	// It has gone since the list was made, and is no file of the run's any more.
	case errors.Is(faults[a.Fault], fs.ErrNotExist):
	case a.Fault != "":
		l.Skip(name, e.Size, "unreadable")
	default:
		l.AddHashed(name, a.Size, a.SHA, a.Data)
	}
}
