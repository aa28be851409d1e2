package pybuild

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolcell/toolcell/providers/inmemory/python/pack"
)

//go:embed recipe/recipe.json
var recipeJSON []byte

//go:embed recipe/pyconfig.h
var pyconfig []byte

//go:embed recipe/toolcell.c
var toolcell []byte

// A recipe says what is compiled and how. In flags and files {python}, {zlib} and so on
// stand for the directories of sources.
type recipe struct {
	Python    string
	Sources   []pack.Source
	Flags     []string          // of Groups
	Groups    []group           // files of CPython and of ours
	Libraries []group           // The allocator of zig's C library takes twice the memory, and its math rounds worse.
	Frozen    map[string]string // module -> its source in CPython's
	Modules   map[string]string // built-in module -> the function that makes it
}

// A group are files that are compiled in the same way.
type group struct {
	Flags, Files []string
}

func readRecipe() (*recipe, error) {
	r := &recipe{}
	return r, json.Unmarshal(recipeJSON, r)
}

// expand puts the directories into a flag or name.
func (b *build) expand(s string) string {
	return strings.NewReplacer("{python}", b.python, "{zlib}", b.zlib, "{libc}", b.libc,
		"{musl}", filepath.Join(b.libc, "libc-top-half", "musl"),
		"{sqlite}", filepath.Join(b.work, "sqlite"), "{work}", b.work).Replace(s)
}

// writeHeaders writes what configure would.
func (b *build) writeHeaders(context.Context) error {
	for _, dir := range []string{"Include", "Objects", "Python/frozen_modules", "sqlite"} {
		if err := os.MkdirAll(filepath.Join(b.work, dir), 0o755); err != nil {
			return err
		}
	}
	sqlite, err := os.ReadFile(filepath.Join(b.sqlite, "sqlite3-binding.h"))
	if err != nil {
		return err
	}
	files := map[string][]byte{"pyconfig.h": pyconfig, "toolcell.c": toolcell, "sqlite/sqlite3.h": sqlite, "config.c": b.config()}
	for name, data := range files {
		if err := os.WriteFile(filepath.Join(b.work, name), data, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// config is the list of built-in modules.
func (b *build) config() []byte {
	var declared, listed strings.Builder
	for _, name := range slices.Sorted(maps.Keys(b.recipe.Modules)) {
		create := b.recipe.Modules[name]
		if create != "NULL" {
			fmt.Fprintf(&declared, "extern PyObject *%s(void);\n", create)
		}
		fmt.Fprintf(&listed, "    {%q, %s},\n", name, create)
	}
	return fmt.Appendf(nil, "#include \"Python.h\"\n%s\nstruct _inittab _PyImport_Inittab[] = {\n%s    {0, 0}\n};\n", &declared, &listed)
}
