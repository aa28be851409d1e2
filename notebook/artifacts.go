package notebook

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/artifact"
)

// gatherLimit bounds how long files are read after the last cell.
const gatherLimit = time.Minute

// A writtenFiles records the files that cells wrote.
type writtenFiles struct {
	files map[string]codeinterp.Artifact // of the last cell that wrote them
	cut   bool                           // there may be more
}

func (m *writtenFiles) note(res *codeinterp.Result) {
	for _, a := range res.Artifacts {
		if _, known := m.files[a.Path]; !known && len(m.files) >= codeinterp.MaxArtifacts {
			m.cut = true
			continue
		}
		if m.files == nil {
			m.files = map[string]codeinterp.Artifact{}
		}
		m.files[a.Path] = a
	}
	m.cut = m.cut || slices.ContainsFunc(res.Truncated, func(t codeinterp.Truncation) bool { return t.Stream == "artifacts" })
}

// gather reads the files in a context that is about to be deleted.
func (m *writtenFiles) gather(ctx context.Context, ci codeinterp.CodeInterpreter, id codeinterp.ContextID) ([]codeinterp.Artifact, []codeinterp.Truncation) {
	list := &artifact.List{Data: true}
	if m.cut {
		list.Cut()
	}
	if len(m.files) == 0 {
		return list.Done()
	}
	ctx, cancel := context.WithTimeout(ctx, gatherLimit)
	defer cancel()
	var dir codeinterp.FS
	err := codeinterp.ErrUnavailable
	if of, ok := codeinterp.Files(ci); ok {
		dir, err = of.OpenFiles(ctx, id)
	}
	for _, path := range slices.Sorted(maps.Keys(m.files)) {
		a := m.files[path]
		switch {
		case a.Skipped != "":
			list.Skip(path, a.Size, a.Skipped)
		case err != nil:
			list.Skip(path, a.Size, "gone with its directory")
		case ctx.Err() != nil:
			list.Skip(path, a.Size, "not read in time")
		default:
			read(ctx, list, dir, path, a.Size)
		}
	}
	return list.Done()
}

// read adds a file, unless a later cell removed it.
func read(ctx context.Context, list *artifact.List, dir codeinterp.FS, path string, size int64) {
	file, err := dir.Open(path)
	var info fs.FileInfo
	if err == nil {
		info, err = file.Stat()
	}
	switch {
	// A path with a replaced byte is not the name of the file.
	case errors.Is(err, fs.ErrNotExist) && !strings.ContainsRune(path, '\uFFFD'):
		return
	case err != nil:
		list.Skip(path, size, "unreadable")
	case info.IsDir():
	default:
		list.Add(ctx, path, info.Size(), file)
		return
	}
	if file != nil {
		_ = file.Close()
	}
}
