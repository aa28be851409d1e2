package pybuild

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"
)

// freeze makes the frozen modules, by CPython's own program for that, and compiles what
// consists of them.
func (b *build) freeze(ctx context.Context) error {
	args := linkFlags("freeze.wasm")
	var frozen []*object
	for _, o := range b.objects() {
		switch {
		case o.needsFrozen():
			frozen = append(frozen, o)
		case o.name != "work+toolcell.c.o":
			args = append(args, o.name)
		}
	}
	if err := b.zigcc(ctx, args...); err != nil {
		return err
	}
	source, err := os.ReadFile(filepath.Join(b.work, "freeze.wasm"))
	if err != nil {
		return err
	}
	rt := wazero.NewRuntime(ctx)
	defer rt.Close(ctx)
	if _, err := wasi_snapshot_preview1.Instantiate(ctx, rt); err != nil {
		return err
	}
	program, err := rt.CompileModule(ctx, source)
	if err != nil {
		return err
	}
	files := wazero.NewFSConfig().WithReadOnlyDirMount(b.python, "/python").
		WithDirMount(filepath.Join(b.work, "Python", "frozen_modules"), "/out")
	for name, file := range b.recipe.Frozen {
		config := wazero.NewModuleConfig().WithName("").WithFSConfig(files).WithRandSource(rand.Reader).WithStderr(os.Stderr).
			WithArgs("freeze", name, "/python/"+file, "/out/"+name+".h")
		m, err := rt.InstantiateModule(ctx, program, config)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		_ = m.Close(ctx) // it has ended
	}
	return b.compile(ctx, frozen)
}
