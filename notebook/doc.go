// Package notebook reads, runs and writes Jupyter notebooks (.ipynb, format 4)
// with any provider that keeps variables between runs.
//
//	nb, err := notebook.Decode(data)
//	...
//	report, err := notebook.Run(ctx, ci, nb, nil)
//	...
//	data, err = nb.Encode() // with outputs, counts and times
//
// What an agent did can be left behind as a notebook as well: a [Cell] with the
// code and [Cell.Record] with its Result, in a [Notebook].
//
// # How cells run
//
// [Run] runs the code cells in order in one context, which it makes and deletes.
// It stops at the first cell that fails, at its timeout too, unless
// Options.AllowErrors says otherwise, and always where the variables of earlier
// cells are gone or the end of a cell is not known. Two tags are read as nbclient
// reads them: a cell with "raises-exception" may raise an error, and one with
// "skip-execution" is left as it is. Cells without code are left alone too; other
// outputs are those of this run alone, and cells behind the one that stopped it
// have none.
//
// # What is written
//
// Format 4.5, as nbformat's validator wants it: whatever a notebook of a 4.x
// before it lacks, such as cell ids, is added, and fields that the format does
// not have are left out. Metadata is kept as it is, with the times of a cell as
// "execution" in its own. An update of a display goes to the cell that showed
// it. What a Result lacks (Truncated), lost variables, timeouts and other ends
// that are no error of the program's are reported in the cell's outputs, in lines
// that begin with "toolcell:".
//
// # Files
//
// With Options.Artifacts a Report has the files that cells created or changed
// and that are still there behind the last one, read before the context is deleted with
// them: codeinterp.MaxArtifacts of them at most, read within a minute. What is
// missing is listed in Report.Truncated.
//
// # Limits
//
// Files have at most [MaxBytes], [MaxCells] cells, 4,194,304 values and 524,288
// outputs, names in cells, outputs and metadata, and lines of tracebacks, and nest at
// most [MaxDepth] levels. Decoding takes up to some ten times the file's size, and up to
// 150 MiB beside that where it has very many small outputs. Formats
// before 4 are refused. Widgets' state is not written. Output that comes after a
// cell's end stands in the next one. Bytes of streams that are no UTF-8 become
// U+FFFD, for JSON has no others.
//
// # Security
//
// A notebook is a program: it runs in the provider's isolation, not in one of
// this package's. Outputs that a notebook brings along, such as HTML and
// scripts, are kept for the cells that do not run.
package notebook
