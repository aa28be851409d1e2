package quickjs

import (
	"cmp"
	"errors"
	"io"
	"io/fs"
	"maps"
	"math"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/toolcell/toolcell/providers/inmemory/memfs"
)

func sortedKeys(m map[string]string) []string { return slices.Sorted(maps.Keys(m)) }

// guestPath returns a name of the file system as programs see it.
func (in *instance) guestPath(name string) string {
	if name == "." || name == "" {
		return "/"
	}
	return "/" + name
}

func (in *instance) hostChdir(_ value, args []value) value {
	if len(args) == 0 {
		args = []value{undefined}
	}
	p, ok := in.path("chdir", args[0])
	if !ok {
		return exception
	}
	name := memfs.Clean(in.cwd, p)
	info, err := in.config.Files.Stat(name)
	if err == nil && !info.IsDir() {
		err = &fs.PathError{Op: "chdir", Path: name, Err: memfs.ErrNotDir}
	}
	if err != nil {
		return in.throwFS(err, "chdir", p)
	}
	in.cwd = name
	return undefined
}

// hostFS is fs(operation, path, argument, flag): the file system as one
// function, on which the fs module is built. That is the program's to change, so that
// arguments may be missing or no numbers.
func (in *instance) hostFS(_ value, args []value) value {
	for len(args) < 4 {
		args = append(args, undefined)
	}
	op, _, ok := in.vm.clipped(args[0], 64)
	if !ok {
		return exception
	}
	p, ok := in.path(op, args[1])
	if !ok {
		return exception
	}
	name := memfs.Clean(in.cwd, p)
	if name == "tmp" || strings.HasPrefix(name, "tmp/") {
		// It is there on every machine, and here once it is asked for.
		if err := in.config.Files.MkdirAll("tmp", 0o755); err != nil {
			return in.throwFS(err, op, p)
		}
	}
	v, err := in.fileOp(op, name, args)
	if err != nil {
		return in.throwFS(err, in.syscallOf(op, args), p)
	}
	return v
}

// syscalls are what errors of operations name, where that is not the operation.
var syscalls = map[string]string{"readat": "read", "writeat": "write", "write": "open", "append": "open", "truncate": "open",
	"mkdirp": "mkdir", "realpath": "lstat", "utimes": "utime"}

// syscallOf returns what an error of an operation names: the argument of stat, where
// it has one.
func (in *instance) syscallOf(op string, args []value) string {
	if op == "stat" && isString(args[2]) {
		op, _, _ = in.vm.clipped(args[2], 64)
	}
	return cmp.Or(syscalls[op], op)
}

// maxPath bounds the paths of programs, as systems do.
const maxPath = 4 << 10

// path returns a path that a program gave; ok is false where an exception is pending.
func (in *instance) path(op string, v value) (p string, ok bool) {
	p, lost, ok := in.vm.clipped(v, maxPath)
	switch {
	case !ok:
	case lost > 0:
		in.vm.throwWith("Error", "ENAMETOOLONG: name too long, "+op+" '"+p+"'",
			map[string]string{"code": "ENAMETOOLONG", "syscall": op, "path": p})
		return "", false
	case strings.ContainsRune(p, 0):
		in.vm.throwWith("TypeError", "a path must not contain null bytes", map[string]string{"code": "ERR_INVALID_ARG_VALUE"})
		return "", false
	}
	return p, ok
}

func (in *instance) fileOp(op, name string, args []value) (value, error) {
	vm, files := in.vm, in.config.Files
	switch op {
	case "open":
		if info, err := files.Stat(name); err == nil && !vm.borrow(int(info.Size())) {
			return exception, nil
		}
		b, err := files.ReadFile(name)
		if err != nil {
			return undefined, err
		}
		return vm.newBytes(b), nil
	case "write", "append":
		b, ok := vm.bytesOf(args[2])
		if !ok {
			return exception, nil
		}
		if op == "append" {
			return undefined, files.AppendFile(name, b)
		}
		return undefined, files.WriteFile(name, b)
	case "readat":
		return in.readAt(name, args)
	case "writeat":
		return in.writeAt(name, args)
	case "chmod":
		n, _ := number(args[2])
		return undefined, files.Chmod(name, fs.FileMode(uint32(n)))
	case "utimes":
		const most = 8640000000000000 // milliseconds, as of a Date
		n, _ := number(args[2])
		// NaN stays what it is in min and max, and has no integer.
		if n != n {
			n = 0
		}
		return undefined, files.Chtimes(name, time.UnixMicro(int64(math.Round(max(-most, min(n, most))*1000))))
	case "truncate":
		return undefined, files.Truncate(name, within(args[2], 1<<53))
	case "stat":
		info, err := files.Stat(name)
		if err != nil {
			return undefined, err
		}
		return in.stat(info), nil
	case "scandir":
		list, err := files.ReadDir(name)
		if err != nil {
			return undefined, err
		}
		return in.entries(list), nil
	case "mkdir":
		return undefined, files.Mkdir(name, 0o755)
	case "mkdirp":
		return undefined, files.MkdirAll(name, 0o755)
	case "unlink", "rmdir":
		info, err := files.Stat(name)
		if err == nil && op == "unlink" && info.IsDir() {
			err = &fs.PathError{Op: op, Path: name, Err: memfs.ErrIsDir}
		}
		if err == nil && op == "rmdir" && !info.IsDir() {
			err = &fs.PathError{Op: op, Path: name, Err: memfs.ErrNotDir}
		}
		if err != nil {
			return undefined, err
		}
		return undefined, files.Remove(name)
	case "rm":
		return undefined, files.RemoveAll(name)
	case "rename":
		to, ok := in.path(op, args[2])
		if !ok {
			return exception, nil
		}
		return undefined, files.Rename(name, memfs.Clean(in.cwd, to))
	case "realpath":
		_, err := files.Stat(name)
		return vm.newString(in.guestPath(name)), err
	}
	return vm.throw("InternalError", "no file operation "+op), nil
}

// within is a number as one of 0 to most, 0 where it is none.
func within(v value, most int64) int64 {
	if f, _ := number(v); f > 0 {
		return int64(min(f, float64(most)))
	}
	return 0
}

// readAt is readat(path, position, length): what a file has there.
func (in *instance) readAt(name string, args []value) (value, error) {
	f, err := in.config.Files.Files(".").OpenFile(name, os.O_RDONLY, 0)
	if err != nil {
		return undefined, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return undefined, err
	}
	from := within(args[2], info.Size())
	n := within(args[3], info.Size()-from)
	if !in.vm.borrow(int(n)) {
		return exception, nil
	}
	b := make([]byte, n)
	if _, err = f.Seek(from, io.SeekStart); err == nil {
		_, err = io.ReadFull(f, b)
	}
	if err != nil {
		return undefined, err
	}
	return in.vm.newBytes(b), nil
}

// writeAt is writeat(path, bytes, position): it writes into a file that is there, at its
// end where the position is negative.
func (in *instance) writeAt(name string, args []value) (value, error) {
	b, ok := in.vm.bytesOf(args[2])
	if !ok {
		return exception, nil
	}
	at, _ := number(args[3])
	flag := os.O_WRONLY
	if at < 0 {
		flag |= os.O_APPEND
	}
	f, err := in.config.Files.Files(".").OpenFile(name, flag, 0)
	if err != nil {
		return undefined, err
	}
	defer f.Close()
	if at > 0 {
		_, err = f.Seek(within(args[3], 1<<53), io.SeekStart)
	}
	if err == nil {
		_, err = f.Write(b)
	}
	return undefined, err
}

// stat returns [isDirectory, size, time in milliseconds, permissions].
func (in *instance) stat(info fs.FileInfo) value {
	return in.vm.newList(newBool(info.IsDir()), newNumber(float64(info.Size())),
		newNumber(float64(info.ModTime().UnixMilli())), newNumber(float64(info.Mode().Perm())))
}

// entries returns [name, isDirectory, name, isDirectory, ...].
func (in *instance) entries(entries []fs.DirEntry) value {
	list := make([]value, 0, 2*len(entries))
	for _, e := range entries {
		list = append(list, in.vm.newString(e.Name()), newBool(e.IsDir()))
	}
	return in.vm.newList(list...)
}

// throwFS throws an error as node's fs does.
func (in *instance) throwFS(err error, op, path string) value {
	code, text := "EIO", "input/output error"
	for _, e := range []struct {
		is         error
		code, text string
	}{
		{fs.ErrNotExist, "ENOENT", "no such file or directory"},
		{fs.ErrExist, "EEXIST", "file already exists"},
		{fs.ErrInvalid, "EINVAL", "invalid argument"},
		{memfs.ErrIsDir, "EISDIR", "illegal operation on a directory"},
		{memfs.ErrNotDir, "ENOTDIR", "not a directory"},
		{memfs.ErrNotEmpty, "ENOTEMPTY", "directory not empty"},
		{memfs.ErrQuota, "ENOSPC", "no space left on device"},
	} {
		if errors.Is(err, e.is) {
			code, text = e.code, e.text
			break
		}
	}
	return in.vm.throwWith("Error", code+": "+text+", "+op+" '"+path+"'",
		map[string]string{"code": code, "syscall": op, "path": path})
}

// hostStdin returns up to n bytes of standard input, all if n is negative; none if the
// run has no input.
func (in *instance) hostStdin(_ value, args []value) value {
	left := in.program.Stdin[in.stdin:]
	if n, ok := number(args[0]); ok && n >= 0 {
		left = left[:int(min(float64(len(left)), n))]
	}
	in.stdin += len(left)
	return in.vm.newBytes(left)
}
