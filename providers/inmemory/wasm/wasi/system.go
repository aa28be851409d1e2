package wasi

import (
	"io/fs"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/providers/inmemory/memfs"
)

// Config is what a System is made of.
type Config struct {
	// Files are the files of the context.
	Files *memfs.FS
	// Library is shown at LibraryDir, a name from the root, and is only read, by any number
	// of instances at once. What its ReadFile returns is not changed. It may be nil.
	Library    fs.ReadFileFS
	LibraryDir string
	// Args are the arguments, and Env the variables, as name=value.
	Args, Env []string
	// Write takes what is written to the descriptors 1 and 2.
	Write func(descriptor int, p []byte)
	// Sleep waits for so long, or until the program is to end.
	Sleep func(time.Duration)
	// Yield is called now and then within calls that take long. It may be nil.
	Yield func()
}

// A System is what one instance of a module sees of the world. It is for one goroutine at
// a time.
type System struct {
	Config
	input []byte // what is left of standard input
	open  []*file
}

// An Exit is the panic by which proc_exit ends a module.
type Exit struct{ Code uint32 }

func (e Exit) Error() string { return "the program exited" }

// The descriptors that are open at the start.
const (
	stdin = iota
	stdout
	stderr
	rootDir
	firstFree

	maxOpen = 512
)

// New returns a system in which nothing but the standard streams is open.
func New(c Config) *System {
	return &System{Config: c, open: []*file{stdin: {}, stdout: {}, stderr: {}, rootDir: {dir: true, name: "."}}}
}

// SetInput gives standard input its content, and opens it where the module has closed it.
func (s *System) SetInput(p []byte) {
	s.input = p
	if s.open[stdin] == nil {
		s.open[stdin] = &file{}
	}
}

// OpenFiles returns how many files and directories the module has open.
func (s *System) OpenFiles() (n int) {
	for _, f := range s.open[firstFree:] {
		if f != nil {
			n++
		}
	}
	return n
}

// Clone returns a system with the files that s has open, at the same places. reopen opens
// one of s's files among those of c.
func (s *System) Clone(c Config, reopen func(codeinterp.File) codeinterp.File) *System {
	n := &System{Config: c, open: make([]*file, len(s.open))}
	for fd, f := range s.open {
		if f == nil {
			continue
		}
		copied := *f
		if _, ok := f.content.(fixed); !ok && f.content != nil {
			if copied.content, ok = reopen(f.content).(content); !ok {
				continue
			}
		}
		n.open[fd] = &copied
	}
	return n
}

// Close closes all files.
func (s *System) Close() {
	for i := range s.open {
		s.close(uint32(i))
	}
}

// Start of the process's monotonic clock.
var epoch = time.Now()

func (s *System) file(fd uint32) *file {
	if uint64(fd) >= uint64(len(s.open)) {
		return nil
	}
	return s.open[fd]
}

// add gives a file the lowest number that is free.
func (s *System) add(f *file) (fd uint32, e Errno) {
	for i := firstFree; i < len(s.open); i++ {
		if s.open[i] == nil {
			s.open[i] = f
			return uint32(i), 0
		}
	}
	if len(s.open) == firstFree+maxOpen {
		return 0, ErrnoMfile
	}
	s.open = append(s.open, f)
	return uint32(len(s.open) - 1), 0
}

func (s *System) close(fd uint32) Errno {
	f := s.file(fd)
	if f == nil {
		return ErrnoBadf
	}
	s.open[fd] = nil
	f.close()
	return 0
}

func (f *file) close() {
	if f.content != nil {
		_ = f.content.Close() // it is open
	}
}
