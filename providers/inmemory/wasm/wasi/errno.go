package wasi

import (
	"errors"
	"io/fs"

	"github.com/toolcell/toolcell/codeinterp"
)

// An Errno is the result of a function. Zero means success.
type Errno uint32

// The results that are used, by their POSIX names.
const (
	ErrnoBadf        Errno = 8
	ErrnoExist       Errno = 20
	ErrnoFault       Errno = 21
	ErrnoInval       Errno = 28
	ErrnoIo          Errno = 29
	ErrnoIsdir       Errno = 31
	ErrnoMfile       Errno = 33
	ErrnoNametoolong Errno = 37
	ErrnoNoent       Errno = 44
	ErrnoNospc       Errno = 51
	ErrnoNotdir      Errno = 54
	ErrnoNotempty    Errno = 55
	ErrnoNotsock     Errno = 57
	ErrnoNotsup      Errno = 58
	ErrnoRofs        Errno = 69
	ErrnoSpipe       Errno = 70
)

var errReadOnly = errors.New("a file of the library cannot be changed")

// errnoOf returns the number of an error of a file system.
func errnoOf(err error) Errno {
	if err == nil {
		return 0
	}
	for _, known := range []struct {
		err error
		no  Errno
	}{
		{fs.ErrNotExist, ErrnoNoent}, {fs.ErrExist, ErrnoExist}, {codeinterp.ErrIsDir, ErrnoIsdir},
		{codeinterp.ErrNotDir, ErrnoNotdir}, {codeinterp.ErrNotEmpty, ErrnoNotempty},
		{codeinterp.ErrQuota, ErrnoNospc}, {errReadOnly, ErrnoRofs}, {fs.ErrPermission, ErrnoBadf}, {fs.ErrClosed, ErrnoBadf}, {fs.ErrInvalid, ErrnoInval},
	} {
		if errors.Is(err, known.err) {
			return known.no
		}
	}
	return ErrnoIo
}
