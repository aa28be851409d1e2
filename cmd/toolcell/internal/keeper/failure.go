package keeper

import (
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"syscall"
)

// A failure is an error of a stream, as it goes from one process to another.
type failure struct {
	Op, Path string
	Number   syscall.Errno
	Text     string
}

// pack makes bytes of an error, none of nil.
func pack(err error) []byte {
	if err == nil {
		return nil
	}
	f := failure{Text: err.Error()}
	if at, ok := errors.AsType[*fs.PathError](err); ok {
		f.Op, f.Path = at.Op, at.Path
	}
	if n, ok := errors.AsType[syscall.Errno](err); ok {
		f.Number = n
	}
	b, err := json.Marshal(f)
	if err != nil {
		return []byte("{}")
	}
	return b
}

// unpack is the error again, so that errors.Is and its text are as they were.
func unpack(b []byte) error {
	if len(b) == 0 {
		return nil
	}
	var f failure
	if json.Unmarshal(b, &f) != nil {
		return errFrame
	}
	switch {
	case f.Number != 0 && f.Op != "":
		return &fs.PathError{Op: f.Op, Path: f.Path, Err: f.Number}
	case f.Number != 0:
		return f.Number
	case f.Text == io.EOF.Error():
		return io.EOF
	}
	return errors.New(f.Text)
}
