package wire

import (
	"encoding/json"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/ansi"
)

// A payload is what an execute_reply asks the kernel's frontend to do. Kernels
// answer questions such as IPython's "print?" in no other way.
type payload struct {
	Source string          `json:"source"`
	Data   json.RawMessage `json:"data"` // of a page
	Text   json.RawMessage `json:"text"` // of set_next_input
}

// Shown returns what the reply's payloads have to show. A program can put there what
// it likes, and what is of another shape than a payload's has nothing to show.
func (r *ExecuteReply) Shown() []codeinterp.Output {
	var items []json.RawMessage
	if json.Unmarshal(r.Payload, &items) != nil {
		return nil
	}
	var shown []codeinterp.Output
	for _, item := range items {
		var p payload
		if json.Unmarshal(item, &p) != nil {
			continue
		}
		if o := p.shown(); len(o.Bundle) > 0 {
			shown = append(shown, o)
		}
	}
	return shown
}

// shown is the text for a pager, and code that is offered as the next cell, which
// %load reads. The other payloads ask for windows.
func (p *payload) shown() codeinterp.Output {
	o := codeinterp.Output{Kind: codeinterp.Display}
	switch p.Source {
	case "page":
		var data map[string]json.RawMessage
		if json.Unmarshal(p.Data, &data) != nil {
			return o
		}
		o.Bundle = bundleOf(data)
		for i, r := range o.Bundle {
			if r.MIME == "text/plain" { // a pager's colours mean nothing beside other displays
				o.Bundle[i].Data = []byte(ansi.Strip(string(r.Data)))
			}
		}
	case "set_next_input":
		if text, ok := textOf(p.Text); ok && text != "" {
			o.Bundle = []codeinterp.Representation{{MIME: "text/plain", Data: []byte(text)}}
		}
	}
	return o
}
