// Package notebook reads, runs and writes Jupyter notebooks (.ipynb, format 4) with any
// provider that keeps variables between runs.
//
//	nb, err := notebook.Decode(data)
//	...
//	report, err := notebook.Run(ctx, ci, nb, nil)
//	...
//	data, err = nb.Encode() // with outputs, counts and times
//
// A [Cell] with code and [Cell.Record] with its Result write a notebook of what an agent
// did.
//
// # How cells run
//
// [Run] runs the code cells in order in a new context, which it deletes. It stops at the
// first cell that fails or reaches its timeout, unless Options.AllowErrors is set, and
// always if variables are lost or the end of a cell is unknown. A cell with the tag
// "raises-exception" may raise an error; one with "skip-execution" is not run.
//
// # What is written
//
// Format 4.5. What older formats lack, such as cell ids, is added; unknown fields are left
// out. Metadata is kept, and the times of a cell are its member "execution". Lost output,
// lost variables and timeouts are lines of the cell's stderr that begin with "toolcell:".
//
// # Files
//
// With Options.Artifacts a Report has the files that cells created or changed and that
// exist after the last cell: at most codeinterp.MaxArtifacts, read within a minute.
// Report.Truncated lists what is missing.
//
// # Limits
//
// A file has at most [MaxBytes], [MaxCells] cells, 100,000 outputs, 4,194,304 values and
// [MaxDepth] levels. Decoding takes about ten times the file's size in memory. Formats
// before 4 are refused. The state of widgets is not written. Output that arrives after the
// end of a cell belongs to the next one.
//
// # Security
//
// A notebook is a program: it runs in the isolation of the provider. Outputs that it
// contains, such as HTML and scripts, are kept for cells that do not run.
package notebook
