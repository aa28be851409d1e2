//go:build unix

package sandbox

import (
	"errors"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// A spare is a directory of TempDir's that was made ahead, while nobody waited
// for it: a file system with a journal takes as long for that as a process takes
// to start.
type spare struct {
	path string
	made os.FileInfo
}

// makeSpare makes a directory in a root of TempDir's.
func (s *Sandbox) makeSpare(root string) (*spare, error) {
	dir, err := s.makeTemp(root)
	if err != nil {
		return nil, err
	}
	made, err := os.Lstat(dir)
	return &spare{dir, made}, err
}

// untouched reports whether the directory is as it was made. A program can have
// been at it, where its own user may change what TempDir's root is in.
func (p *spare) untouched() bool {
	fd, err := unix.Open(p.path, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return false
	}
	d := os.NewFile(uintptr(fd), "spare")
	defer d.Close()
	now, err := d.Stat()
	if err != nil || !os.SameFile(now, p.made) || now.Mode() != p.made.Mode() || !now.ModTime().Equal(p.made.ModTime()) {
		return false
	}
	_, err = d.Readdirnames(1)
	return errors.Is(err, io.EOF)
}

// stock makes a spare in the background, unless there is one.
func (j *janitor) stock(make func() (*spare, error)) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.closed || j.stocking || j.spare != nil {
		return
	}
	j.stocking = true
	j.idle.Go(func() {
		p, err := make()
		j.mu.Lock()
		defer j.mu.Unlock()
		if j.stocking = false; err == nil {
			j.spare = p
		}
	})
}

// take returns the path of the spare, empty where there is none that is as it was
// made.
func (j *janitor) take() string {
	j.mu.Lock()
	p := j.spare
	j.spare = nil
	j.mu.Unlock()
	switch {
	case p == nil:
		return ""
	case !p.untouched():
		j.add(newRemover(p.path))
		return ""
	}
	return p.path
}
