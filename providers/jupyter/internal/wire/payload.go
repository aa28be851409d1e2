package wire

import (
	"encoding/json"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/ansi"
)

// A Payload is what an execute_reply asks the kernel's frontend to do. Kernels
// answer questions such as IPython's "print?" in no other way.
type Payload struct {
	Source string                     `json:"source"`
	Data   map[string]json.RawMessage `json:"data"` // of a page
	Text   string                     `json:"text"` // of set_next_input
}

// Shown returns what a payload has to show: the text for a pager, and code that is
// offered as the next cell, which %load reads. The others ask for windows that
// nobody has.
func (p *Payload) Shown() (codeinterp.Output, bool) {
	o := codeinterp.Output{Kind: codeinterp.Display}
	switch p.Source {
	case "page":
		o.Bundle = bundleOf(p.Data)
		for i, r := range o.Bundle {
			if r.MIME == "text/plain" { // a pager's colours mean nothing beside other displays
				o.Bundle[i].Data = []byte(ansi.Strip(string(r.Data)))
			}
		}
	case "set_next_input":
		if p.Text != "" {
			o.Bundle = []codeinterp.Representation{{MIME: "text/plain", Data: []byte(p.Text)}}
		}
	}
	return o, len(o.Bundle) > 0
}
