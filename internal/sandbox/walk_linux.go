package sandbox

import (
	"errors"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// A walked is what a walk found.
type walked struct {
	bytes  int64
	inodes int
}

// over reports whether a walk found more than enough, in which -1 is no limit.
func (w walked) over(enough walked) bool {
	return enough.bytes >= 0 && w.bytes > enough.bytes || enough.inodes >= 0 && w.inodes > enough.inodes
}

const (
	walkHold   = 32              // levels whose descriptors a walk holds
	walkBudget = 2 * time.Second // for one walk
	walkBatch  = 1024            // names read at once
)

var (
	errEnough = errors.New("enough")

	// errHidden tells that a program keeps directories from being counted: one
	// stays unreadable for its owner, or levels below walkHold move while
	// they are walked.
	errHidden = errors.New("it cannot be measured")
)

// A walk adds up the files beneath a directory. It follows no symbolic links,
// counts a file with several names once, and holds a bounded number of
// descriptors: from the deep levels it goes back by "..".
type walk struct {
	walked
	enough walked
	end    time.Time
	linked map[uint64]bool
	levels []level
}

// A level is a directory on the way down.
type level struct {
	fd       int // -1 if it was closed
	dev, ino uint64
	mode     uint32 // to be given back, if it was changed
	changed  bool
	subdirs  []string // still to be walked
}

// measure walks dir, and stops when it has found more than enough, or after
// walkBudget.
func measure(dir string, enough walked) (walked, error) {
	return measureUntil(dir, enough, time.Now().Add(walkBudget))
}

// measureUntil is measure with a time of the caller's at which it stops.
func measureUntil(dir string, enough walked, end time.Time) (walked, error) {
	w := &walk{enough: enough, end: end, linked: map[uint64]bool{}}
	defer w.close()
	err := w.descend(unix.AT_FDCWD, dir)
	for err == nil && len(w.levels) > 0 {
		top := &w.levels[len(w.levels)-1]
		if n := len(top.subdirs); n > 0 {
			name := top.subdirs[n-1]
			top.subdirs = top.subdirs[:n-1]
			err = w.descend(top.fd, name)
		} else {
			err = w.ascend()
		}
	}
	if err == errHidden {
		return w.walked, err
	}
	return w.walked, nil
}

func (w *walk) close() {
	for i := len(w.levels) - 1; i >= 0; i-- {
		w.levels[i].close()
	}
}

// close lets a level go, with the mode that it had.
func (l *level) close() {
	if l.fd < 0 {
		return
	}
	if l.changed {
		_ = unix.Fchmod(l.fd, l.mode)
	}
	unix.Close(l.fd)
	l.fd = -1
}

// descend counts what is in a directory. One that is gone, or belongs to
// somebody else and is closed, is passed over.
func (w *walk) descend(at int, name string) error {
	l, err := openLevel(at, name)
	if err == errHidden {
		return err
	}
	if err != nil {
		return nil
	}
	if n := len(w.levels) - walkHold; n >= 0 && w.levels[n].fd >= 0 {
		// ascend opens it again, by "..".
		unix.Close(w.levels[n].fd)
		w.levels[n].fd = -1
	}
	w.levels = append(w.levels, l)
	return w.count(&w.levels[len(w.levels)-1])
}

// ascend goes back to the parent.
func (w *walk) ascend() error {
	n := len(w.levels) - 1
	defer func() { w.levels[n].close(); w.levels = w.levels[:n] }()
	if n == 0 || w.levels[n-1].fd >= 0 {
		return nil
	}
	up := &w.levels[n-1]
	// A program may move the directory meanwhile, and ".." is then another: the
	// device and inode tell.
	fd, err := unix.Openat(w.levels[n].fd, "..", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0) // which was listed
	if err != nil {
		return errHidden
	}
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil || uint64(st.Dev) != up.dev || st.Ino != up.ino {
		unix.Close(fd)
		return errHidden
	}
	up.fd = fd
	return nil
}

// openLevel opens a directory to be listed, and makes that possible for so long
// where its owner, the host's user, has forbidden it to himself.
func openLevel(at int, name string) (level, error) {
	const flags = unix.O_RDONLY | unix.O_DIRECTORY | unix.O_NOFOLLOW | unix.O_CLOEXEC
	const need = 0o500
	var st unix.Stat_t
	if err := unix.Fstatat(at, name, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return level{}, err
	}
	l := level{dev: uint64(st.Dev), ino: st.Ino, mode: st.Mode & 0o7777}
	mine := int(st.Uid) == os.Geteuid()
	if mine && l.mode&need != need && allow(at, name, l.mode|need) == nil {
		l.changed = true
	}
	// What a walk reads would tell the program by its time of access where the walk is.
	fd, err := unix.Openat(at, name, flags|unix.O_NOATIME, 0)
	if err == unix.EPERM {
		fd, err = unix.Openat(at, name, flags, 0)
	}
	switch {
	case err == unix.EACCES && mine:
		return level{}, errHidden
	case err != nil:
		return level{}, err
	}
	l.fd = fd
	if unix.Fstat(fd, &st) != nil || uint64(st.Dev) != l.dev || st.Ino != l.ino {
		unix.Close(fd)
		return level{}, unix.ENOENT
	}
	return l, nil
}

// count adds up the entries of a directory, and remembers the directories.
func (w *walk) count(l *level) error {
	dup, err := unix.FcntlInt(uintptr(l.fd), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return err
	}
	d := os.NewFile(uintptr(dup), "directory")
	defer d.Close()
	for {
		names, err := d.Readdirnames(walkBatch)
		for _, name := range names {
			if err := w.entry(l, name); err != nil {
				return err
			}
		}
		if err != nil || len(names) == 0 {
			return nil
		}
	}
}

func (w *walk) entry(l *level, name string) error {
	var st unix.Stat_t
	if unix.Fstatat(l.fd, name, &st, unix.AT_SYMLINK_NOFOLLOW) != nil {
		return nil
	}
	w.inodes++
	dir := st.Mode&unix.S_IFMT == unix.S_IFDIR
	// Only names of files with several are remembered, which keeps the map small.
	if dir || st.Nlink < 2 || !w.linked[st.Ino] {
		if !dir && st.Nlink > 1 {
			w.linked[st.Ino] = true
		}
		w.bytes += st.Blocks * 512
	}
	if dir {
		l.subdirs = append(l.subdirs, name)
	}
	// The clock costs as much as a stat.
	if w.over(w.enough) || w.inodes%64 == 0 && time.Now().After(w.end) {
		return errEnough
	}
	return nil
}
