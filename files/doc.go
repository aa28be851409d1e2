// Package files is what an agent does with files, over any [codeinterp.FS]: it reads a
// range, writes, edits by exact replacement, lists, finds names by a pattern and lines by
// an expression.
//
//	dir, err := files.OpenDir("data") // or codeinterp.Files(ci), for those of a context
//	f := files.New(dir, &files.Options{Dir: "/workspace"})
//	page, err := f.Read(ctx, "src/main.py", files.Range{Line: 100, Lines: 50})
//
// Paths are relative to the directory, or absolute ones within Options.Dir, which is where
// programs see it. ".." may not lead out of it.
//
// # Limits
//
// Every operation is bounded in memory, by the Options, and in time, by its ctx and
// Options.Time; its answer says what was left out. A walk lists at most 1,048,576 entries.
// Writes of one Workdir come one after the other, so that no edit undoes another; those of
// programs come in between.
//
// Names that are not UTF-8, or have control characters, are listed escaped, as in a Go
// string; the former are no names for the other operations.
//
// # Security
//
// What keeps paths within the directory, whatever links and programs do, is the FS. FIFOs,
// sockets and devices are listed as such, and skipped by searches. Symbolic links to
// directories are listed and not descended into. Expressions are RE2, and patterns become
// such, so that matching takes linear time.
package files
