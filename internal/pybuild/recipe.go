package pybuild

import (
	"context"
	"embed"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/toolcell/toolcell/providers/inmemory/python/pack"
)

//go:embed recipe
var recipeFiles embed.FS

// A recipe says what is compiled and how. In flags and files {python}, {zlib} and so on
// stand for the directories of sources.
type recipe struct {
	Python    string
	Sources   []pack.Source
	Flags     []string          // of Groups
	Groups    []group           // files of CPython and of ours
	Libraries []group           // The allocator of zig's C library takes twice the memory, and its math rounds worse.
	Frozen    map[string]string // module -> its source in CPython's
}

// A group are files that are compiled in the same way.
type group struct {
	Flags, Files []string
}

func readRecipe() (*recipe, error) {
	r := &recipe{}
	data, err := recipeFiles.ReadFile("recipe/recipe.json")
	return r, errors.Join(err, json.Unmarshal(data, r))
}

// expand puts the directories into a flag or name.
func (b *build) expand(s string) string {
	return strings.NewReplacer("{python}", b.python, "{zlib}", b.zlib, "{libc}", b.libc,
		"{musl}", filepath.Join(b.libc, "libc-top-half", "musl"),
		"{sqlite}", filepath.Join(b.work, "sqlite"), "{work}", b.work).Replace(s)
}

// writeSources writes what configure would, and other files of ours, and those of SQLite by
// their own names.
func (b *build) writeSources(context.Context) error {
	var errs []error
	for _, dir := range []string{"Include", "Objects", "Python/frozen_modules", "sqlite"} {
		errs = append(errs, os.MkdirAll(filepath.Join(b.work, dir), 0o755))
	}
	sqlite := os.DirFS(b.sqlite)
	for _, f := range []struct {
		from     fs.FS
		name, to string
	}{
		{recipeFiles, "recipe/pyconfig.h", "pyconfig.h"}, {recipeFiles, "recipe/toolcell.c", "toolcell.c"}, {recipeFiles, "recipe/config.c", "config.c"},
		{sqlite, "sqlite3-binding.h", "sqlite/sqlite3.h"}, {sqlite, "sqlite3-binding.c", "sqlite3.c"},
	} {
		data, err := fs.ReadFile(f.from, f.name)
		errs = append(errs, err, os.WriteFile(filepath.Join(b.work, f.to), data, 0o644))
	}
	return errors.Join(errs...)
}
