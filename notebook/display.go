package notebook

import "github.com/toolcell/toolcell/codeinterp"

// A place is the position of an output in a notebook.
type place struct{ cell, output int }

// updates records the displays that a cell updates, by id.
type updates struct {
	seen    map[string]bool
	earlier map[string]bool              // updated before the cell showed one itself
	last    map[string]codeinterp.Output // the last update
}

func (u *updates) note(o *codeinterp.Output) {
	if o.Kind != codeinterp.Display || o.DisplayID == "" {
		return
	}
	if u.seen == nil {
		u.seen, u.earlier, u.last = map[string]bool{}, map[string]bool{}, map[string]codeinterp.Output{}
	}
	if !u.seen[o.DisplayID] {
		u.seen[o.DisplayID], u.earlier[o.DisplayID] = true, o.Update
	}
	if o.Update {
		u.last[o.DisplayID] = *o
	}
}

// see returns the observer of a cell's output.
func (r *running) see(cell int, u *updates) func(codeinterp.Output) error {
	return func(o codeinterp.Output) error {
		u.note(&o)
		if r.opts.OnOutput == nil {
			return nil
		}
		return r.opts.OnOutput(cell, o)
	}
}

// record writes the cell's result into the notebook, and updates displays in all cells
// that show them.
func (r *running) record(cell int, res *codeinterp.Result, u *updates) {
	own := *res
	own.Outputs = nil
	for id, o := range u.last {
		for _, p := range r.shown[id] {
			out := &r.nb.Cells[p.cell].Outputs[p.output]
			out.Data, out.Metadata = bundle(&o), metadata(&o)
		}
	}
	var ids []string // of own.Outputs
	for _, o := range res.Outputs {
		if o.Kind == codeinterp.Display && u.earlier[o.DisplayID] && len(r.shown[o.DisplayID]) > 0 {
			// The first belongs to earlier cells; later displays of that id are
			// this cell's.
			u.earlier[o.DisplayID] = false
			continue
		}
		own.Outputs = append(own.Outputs, o)
		if o.Kind == codeinterp.Display {
			ids = append(ids, o.DisplayID)
		}
	}
	c := &r.nb.Cells[cell]
	c.Record(&own)
	for i := range c.Outputs {
		if c.Outputs[i].Type != Display {
			continue
		}
		if id := ids[0]; id != "" {
			r.shown[id] = append(r.shown[id], place{cell, i})
		}
		ids = ids[1:]
	}
}
