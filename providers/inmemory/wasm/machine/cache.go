package machine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/toolcell/toolcell/codeinterp"
)

// natives are the files with native code in a directory, one for each kind of processor.
func natives(dir string) []string {
	list, _ := filepath.Glob(filepath.Join(dir, "wazero-*", "*")) // of a directory whose name is no pattern
	return list
}

// cached makes a module of its stub and of native code in the cache. It returns nil where the
// cache has none, or what is damaged, which is made again. Where it has none for this
// processor, wazero compiles the stub, which is of no use: that a file is new shows it.
func cached(ctx context.Context, s stub, o *Options) (*Module, error) {
	if o.Cache == "" {
		return nil, nil
	}
	if err := errors.Join(os.MkdirAll(o.Cache, 0o700), checkOwner(o.Cache)); err != nil {
		return nil, fmt.Errorf("%w: %v", codeinterp.ErrUnavailable, err)
	}
	dir := filepath.Join(o.Cache, s.module())
	had := slices.DeleteFunc(natives(dir), func(file string) bool {
		if sealed(file) {
			return false
		}
		_ = os.Remove(file) // it is not used either way
		return true
	})
	if len(had) == 0 {
		return nil, nil
	}
	m, err := newModule(ctx, s, dir, o)
	if err != nil {
		return nil, context.Cause(ctx)
	}
	for _, file := range natives(dir) {
		if !slices.Contains(had, file) {
			_ = os.Remove(file) // or it would be taken for the module's next time
			_ = m.Close()       // it has run nothing
			return nil, nil
		}
	}
	return m, nil
}

// compile makes a module of its code, and puts the native code into the cache.
func compile(ctx context.Context, code []byte, s stub, o *Options) (*Module, error) {
	if o.Cache == "" {
		return newModule(ctx, code, "", o)
	}
	dir, err := os.MkdirTemp(o.Cache, ".new-*")
	if err != nil {
		return nil, fmt.Errorf("%w: %v", codeinterp.ErrUnavailable, err)
	}
	defer os.RemoveAll(dir)
	m, err := newModule(ctx, code, filepath.Join(dir, "module"), o)
	if err != nil {
		return nil, err
	}
	name, err := newModule(ctx, s, filepath.Join(dir, "stub"), o)
	if err == nil {
		err = errors.Join(name.Close(), rename(dir, filepath.Join(o.Cache, s.module())))
	}
	if err != nil {
		_ = m.Close() // it has run nothing
		return nil, fmt.Errorf("%w: %v", codeinterp.ErrUnavailable, err)
	}
	return m, nil
}

// rename gives the native code of the module the place of the stub's in a directory.
func rename(from, to string) error {
	stubs, codes := natives(filepath.Join(from, "stub")), natives(filepath.Join(from, "module"))
	if len(stubs) != 1 || len(codes) != 1 {
		return errors.New("wazero has kept no native code")
	}
	name, err := filepath.Rel(filepath.Join(from, "stub"), stubs[0])
	if err != nil {
		return err
	}
	target := filepath.Join(to, name)
	return errors.Join(seal(codes[0]), os.MkdirAll(filepath.Dir(target), 0o700), os.Rename(codes[0], target))
}

// seal appends to a file the checksum of its content. wazero reads no further than its own
// content, in which it checks the code, but not where functions begin.
func seal(file string) error {
	f, err := os.OpenFile(file, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	sum := crc32.New(castagnoli)
	if _, err = io.Copy(sum, f); err == nil {
		_, err = f.Write(sum.Sum(nil))
	}
	return errors.Join(err, f.Close())
}

// sealed reports whether a file is as seal left it.
func sealed(file string) bool {
	f, err := os.Open(file)
	if err != nil {
		return false
	}
	defer f.Close()
	info, err := f.Stat()
	sum := crc32.New(castagnoli)
	if err == nil {
		_, err = io.CopyN(sum, f, info.Size()-crc32.Size)
	}
	var end [crc32.Size]byte
	if err == nil {
		_, err = io.ReadFull(f, end[:])
	}
	return err == nil && bytes.Equal(end[:], sum.Sum(nil))
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)
