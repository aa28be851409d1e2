package notebook

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"strings"

	"github.com/toolcell/toolcell/codeinterp"
)

// Encode returns the notebook in format 4.5, in the layout of Jupyter. It gives ids to
// cells that need one. An invalid type or invalid JSON is an ErrInvalid.
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
	if spec, ok := metadata["kernelspec"]; ok {
		if metadata["kernelspec"] = namedSpec(spec, nb.Language()); metadata["kernelspec"] == nil {
			delete(metadata, "kernelspec")
		}
	}
	delete(metadata, "orig_nbformat") // not part of the file format
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

// namedSpec returns a kernelspec with the members that the format requires, nil for what is
// no kernelspec.
func namedSpec(spec json.RawMessage, language string) json.RawMessage {
	var members map[string]any
	if json.Unmarshal(spec, &members) != nil || members == nil {
		return nil
	}
	name, named := members["name"].(string)
	title, shown := members["display_name"].(string)
	if named && shown {
		return spec
	}
	name = cmp.Or(name, language)
	members["name"], members["display_name"] = name, cmp.Or(title, name)
	b, _ := json.Marshal(members)
	return b
}

// name gives each cell without a valid and unique id a new one.
func (nb *Notebook) name() {
	// In two passes: a new id must not be that of a later cell.
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
		return nil, fmt.Errorf("unknown cell type %q", c.Type)
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
			m["metadata"] = struct{}{}
		}
		data, err := encodeBundle(o.Data)
		if err != nil {
			return nil, err
		}
		m["data"] = data
	case Failure:
		m["ename"], m["evalue"], m["traceback"] = o.Error, o.Message, append([]string{}, o.Traceback...)
	default:
		return nil, fmt.Errorf("unknown output type %q", o.Type)
	}
	return m, nil
}

// encodeBundle splits texts into lines, as Jupyter does for readable diffs.
func encodeBundle(bundle map[string]json.RawMessage) (map[string]any, error) {
	data := map[string]any{}
	for mime, value := range bundle {
		data[mime] = value
		if asJSON(mime) {
			continue
		}
		var text multiline
		if err := json.Unmarshal(value, &text); err != nil {
			return nil, fmt.Errorf("data: %q: %w", mime, err)
		}
		data[mime] = text
		if codeinterp.IsText(mime) {
			data[mime] = lines(string(text))
		}
	}
	return data, nil
}

// lines splits text after line ends.
func lines(text string) []string {
	list := strings.SplitAfter(text, "\n")
	if list[len(list)-1] == "" {
		list = list[:len(list)-1]
	}
	return list
}

// count is null for a cell that has not run.
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
