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
	// of instances at once. What its ReadFile returns is not changed.
	Library    fs.ReadFileFS
	LibraryDir string
	// Args are the arguments, and Env the variables, as name=value.
	Args, Env []string
	// Write takes what is written to the descriptors 1 and 2.
	Write func(descriptor int, p []byte)
	// Sleep waits for so long, or until the program is to end.
	Sleep func(time.Duration)
	// Yield is called now and then within calls that take long.
	Yield func()
}

// A System is what one instance of a module sees of the world. It is for one goroutine at
// a time.
type System struct {
	Config
	input []byte // what is left of standard input
	files []*file
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
	return &System{Config: c, files: []*file{stdin: {}, stdout: {}, stderr: {}, rootDir: {dir: true, name: "."}}}
}

// SetInput gives standard input its content, and opens it where the module has closed it.
func (s *System) SetInput(p []byte) {
	s.input = p
	if s.files[stdin] == nil {
		s.files[stdin] = &file{}
	}
}

// OpenFiles returns how many files and directories the module has open.
func (s *System) OpenFiles() (n int) {
	for _, f := range s.files[firstFree:] {
		if f != nil {
			n++
		}
	}
	return n
}

// Clone returns a system with the files that s has open, at the same places. reopen opens
// one of s's files among those of c.
func (s *System) Clone(c Config, reopen func(codeinterp.File) codeinterp.File) *System {
	n := &System{Config: c, files: make([]*file, len(s.files))}
	for fd, f := range s.files {
		if f == nil {
			continue
		}
		copied := *f
		if _, ok := f.content.(fixed); !ok && f.content != nil {
			if copied.content, ok = reopen(f.content).(content); !ok {
				continue
			}
		}
		n.files[fd] = &copied
	}
	return n
}

// Close closes all files.
func (s *System) Close() {
	for i := range s.files {
		s.close(uint32(i))
	}
}

// Start of the process's monotonic clock.
var epoch = time.Now()

func (s *System) file(fd uint32) *file {
	if uint64(fd) >= uint64(len(s.files)) {
		return nil
	}
	return s.files[fd]
}

// add gives a file the lowest number that is free.
func (s *System) add(f *file) (fd uint32, e Errno) {
	for i := firstFree; i < len(s.files); i++ {
		if s.files[i] == nil {
			s.files[i] = f
			return uint32(i), 0
		}
	}
	if len(s.files) == firstFree+maxOpen {
		return 0, ErrnoMfile
	}
	s.files = append(s.files, f)
	return uint32(len(s.files) - 1), 0
}

func (s *System) close(fd uint32) Errno {
	f := s.file(fd)
	if f == nil {
		return ErrnoBadf
	}
	s.files[fd] = nil
	f.close()
	return 0
}

func (f *file) close() {
	if f.content != nil {
		_ = f.content.Close() // it is open
	}
}
