package notebook

import "github.com/toolcell/toolcell/codeinterp"

// A place is that of an output in a notebook.
type place struct{ cell, output int }

// updates are the displays that a cell updated before it showed any such
// itself: they are earlier cells'.
type updates struct {
	seen, earlier map[string]bool
}

func (u *updates) note(o *codeinterp.Output) {
	if o.Kind != codeinterp.Display || o.DisplayID == "" || u.seen[o.DisplayID] {
		return
	}
	if u.seen == nil {
		u.seen, u.earlier = map[string]bool{}, map[string]bool{}
	}
	u.seen[o.DisplayID] = true
	u.earlier[o.DisplayID] = o.Update
}

// see watches a cell's output.
func (r *running) see(cell int, u *updates) func(codeinterp.Output) error {
	return func(o codeinterp.Output) error {
		u.note(&o)
		if r.opts.OnOutput == nil {
			return nil
		}
		return r.opts.OnOutput(cell, o)
	}
}

// record puts the cell's result into the notebook, and updates of displays where
// they were shown.
func (r *running) record(cell int, res *codeinterp.Result, u *updates) {
	own := *res
	own.Outputs = nil
	var ids []string // of own.Outputs
	for _, o := range res.Outputs {
		places := r.shown[o.DisplayID]
		if o.Kind == codeinterp.Display && u.earlier[o.DisplayID] && len(places) > 0 {
			for _, p := range places {
				out := &r.nb.Cells[p.cell].Outputs[p.output]
				out.Data, out.Metadata = bundle(&o), metadata(&o)
			}
			// The first goes to the earlier cells; a display of that id behind it is
			// this cell's own.
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
