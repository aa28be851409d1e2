package main

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/notebook"
)

// maxRecord is how many bytes of output a record keeps.
const maxRecord = notebook.MaxBytes / 4

// A record is what was typed and what came of it.
type record struct {
	cells   []notebook.Cell
	sizes   []int64 // of the outputs
	size    int64   // of all of them
	emptied int     // so many cells from the first have lost theirs
}

// add records a program that has just run. Where there is too much output, that
// of the oldest programs goes.
func (r *record) add(program string, res *codeinterp.Result) {
	cell := notebook.Cell{Source: strings.TrimSuffix(program, "\n")}
	cell.Record(res)
	var size int64
	for _, o := range res.Outputs {
		size += int64(len(o.Data) + len(o.Value))
		for _, rep := range o.Bundle {
			size += int64(len(rep.Data))
		}
	}
	r.cells, r.sizes, r.size = append(r.cells, cell), append(r.sizes, size), r.size+size
	for ; r.size > maxRecord && r.emptied < len(r.cells); r.emptied++ {
		r.size -= r.sizes[r.emptied]
		r.cells[r.emptied].Outputs = nil
	}
}

// notebook returns the record as one.
func (r *record) notebook(language string) *notebook.Notebook {
	about := map[string]any{"language_info": map[string]string{"name": language}}
	if language == "python" {
		about["kernelspec"] = map[string]string{"name": "python3", "display_name": "Python 3", "language": "python"}
	}
	nb := &notebook.Notebook{Cells: r.cells, Metadata: map[string]json.RawMessage{}}
	for name, v := range about {
		b, err := json.Marshal(v)
		if err != nil {
			panic(err) // of strings there is none
		}
		nb.Metadata[name] = b
	}
	return nb
}

// save writes what was typed, and what came of it, as a notebook.
func (r *repl) save(file string) {
	if !strings.EqualFold(filepath.Ext(file), ".ipynb") {
		fmt.Fprintln(r.stderr, "toolcell: :save takes the name of a notebook, such as work.ipynb")
		return
	}
	if err := r.writeNotebook(r.flags, file, r.record.notebook(r.language)); err != nil {
		r.fail(err)
		return
	}
	fmt.Fprintf(r.lines, "%d programs are in %s\n", len(r.record.cells), file)
	if r.record.emptied > 0 {
		fmt.Fprintf(r.stderr, "toolcell: there was too much output: that of the first %d programs is left out\n", r.record.emptied)
	}
}
