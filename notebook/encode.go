package notebook

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"strings"

	"github.com/toolcell/toolcell/codeinterp"
)

// Encode returns the notebook in format 4.5, laid out as Jupyter does it. It
// gives ids to cells that need them. An error is an ErrInvalid, for a type or
// JSON that the format does not have.
func (nb *Notebook) Encode() ([]byte, error) {
	nb.name()
	cells := make([]any, len(nb.Cells))
	for i := range nb.Cells {
		var err error
		if cells[i], err = encodeCell(&nb.Cells[i]); err != nil {
			return nil, fmt.Errorf("notebook: %w: cell %d: %w", codeinterp.ErrInvalid, i+1, err)
		}
	}
	metadata := maps.Clone(nb.Metadata)
	delete(metadata, "orig_nbformat") // does not belong into a file
	for name, required := range map[string][]string{"kernelspec": {"name", "display_name"}, "language_info": {"name"}} {
		if raw, ok := metadata[name]; ok {
			if metadata[name] = completed(raw, required); metadata[name] == nil {
				delete(metadata, name)
			}
		}
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	err := enc.Encode(map[string]any{
		"cells": cells, "metadata": orEmpty(metadata), "nbformat": 4, "nbformat_minor": 5,
	})
	if err != nil {
		return nil, fmt.Errorf("notebook: %w: %w", codeinterp.ErrInvalid, err)
	}
	return b.Bytes(), nil
}

// completed returns an object whose required texts are there, each that is missing with
// the value of another. It is nil if there is none of them.
func completed(raw json.RawMessage, required []string) json.RawMessage {
	var o map[string]any
	if json.Unmarshal(raw, &o) != nil {
		return nil
	}
	value, whole := "", true
	for _, name := range required {
		text, ok := o[name].(string)
		whole = whole && ok
		if value == "" {
			value = text
		}
	}
	if whole {
		return raw
	}
	if value == "" {
		return nil
	}
	for _, name := range required {
		if _, ok := o[name].(string); !ok {
			o[name] = value
		}
	}
	b, err := json.Marshal(o)
	if err != nil {
		return nil
	}
	return b
}

// name gives each cell an id of its own: those that are well-formed and new
// stay.
func (nb *Notebook) name() {
	// In two passes, so that no made-up id takes one that a later cell has.
	taken := map[string]bool{}
	for i := range nb.Cells {
		if id := nb.Cells[i].ID; !wellFormed(id) || taken[id] {
			nb.Cells[i].ID = ""
		} else {
			taken[id] = true
		}
	}
	n := 0
	for i := range nb.Cells {
		for c := &nb.Cells[i]; c.ID == ""; n++ {
			if id := fmt.Sprintf("cell-%d", n+1); !taken[id] {
				c.ID, taken[id] = id, true
			}
		}
	}
}

func wellFormed(id string) bool {
	bad := func(c rune) bool {
		return !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '-' || c == '_')
	}
	return id != "" && len(id) <= 64 && !strings.ContainsFunc(id, bad)
}

func encodeCell(c *Cell) (map[string]any, error) {
	m := map[string]any{"id": c.ID, "metadata": orEmpty(c.Metadata), "source": lines(c.Source)}
	switch c.Type {
	case Markdown, Raw:
		m["cell_type"] = c.Type
		if c.Attachments != nil {
			m["attachments"] = c.Attachments
		}
		return m, nil
	case "", Code:
	default:
		return nil, fmt.Errorf("a cell of type %q", c.Type)
	}
	outputs := make([]any, len(c.Outputs))
	for i := range c.Outputs {
		out, err := encodeOutput(&c.Outputs[i])
		if err != nil {
			return nil, fmt.Errorf("output %d: %w", i+1, err)
		}
		outputs[i] = out
	}
	m["cell_type"], m["execution_count"], m["outputs"] = Code, count(c.ExecutionCount), outputs
	return m, nil
}

func encodeOutput(o *Output) (map[string]any, error) {
	m := map[string]any{"output_type": o.Type}
	switch o.Type {
	case Stream:
		m["name"], m["text"] = o.Name, lines(o.Text)
	case Value, Display:
		if o.Type == Value {
			m["execution_count"] = count(o.ExecutionCount)
		}
		m["metadata"] = o.Metadata
		if o.Metadata == nil {
			m["metadata"] = object{}
		}
		data, err := encodeBundle(o.Data)
		if err != nil {
			return nil, err
		}
		m["data"] = data
	case Failure:
		m["ename"], m["evalue"], m["traceback"] = o.Error, o.Message, append([]string{}, o.Traceback...)
	default:
		return nil, fmt.Errorf("an output of type %q", o.Type)
	}
	return m, nil
}

// encodeBundle splits what is text into its lines, as Jupyter does, so that
// changes of a line are changes of a line.
func encodeBundle(bundle map[string]json.RawMessage) (map[string]any, error) {
	data := map[string]any{}
	for mime, value := range bundle {
		data[mime] = value
		if asJSON(mime) {
			continue
		}
		text, err := multiline(value)
		if err != nil {
			return nil, fmt.Errorf("data: %q: %w", mime, err)
		}
		data[mime] = text
		if codeinterp.IsText(mime) {
			data[mime] = lines(text)
		}
	}
	return data, nil
}

// lines splits text behind its line ends.
func lines(text string) []string {
	list := strings.SplitAfter(text, "\n")
	if list[len(list)-1] == "" {
		list = list[:len(list)-1]
	}
	return list
}

// count is null for what did not run.
func count(n int) *int {
	if n <= 0 {
		return nil
	}
	return &n
}

func orEmpty(metadata map[string]json.RawMessage) map[string]json.RawMessage {
	if metadata == nil {
		return map[string]json.RawMessage{}
	}
	return metadata
}
