package notebook

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"unicode/utf8"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/jsontally"
)

// An object is JSON whose names are exact, which structs' are not.
type object map[string]json.RawMessage

// Decode reads a notebook of format 4.0 to 4.5. NaN and infinities, which Python writes
// and JSON does not have, become null. An error is an ErrInvalid, or an ErrTooLarge.
func Decode(data []byte) (*Notebook, error) {
	if len(data) > MaxBytes {
		return nil, fmt.Errorf("notebook: %w: %d bytes, and %d are the most", codeinterp.ErrTooLarge, len(data), MaxBytes)
	}
	if err := bounded(data, MaxDepth); err != nil {
		return nil, fmt.Errorf("notebook: %w", err)
	}
	d := decoder{parts: maxParts}
	nb, err := d.notebook(finite(data))
	if err != nil {
		if !errors.Is(err, codeinterp.ErrTooLarge) {
			err = fmt.Errorf("%w: %w", codeinterp.ErrInvalid, err)
		}
		return nil, fmt.Errorf("notebook: %w", err)
	}
	return nb, nil
}

// notFinite are Python's words for numbers that JSON does not have, longest first.
var notFinite = [][]byte{[]byte("-Infinity"), []byte("Infinity"), []byte("NaN")}

// finite replaces numbers that JSON does not have by null.
func finite(data []byte) []byte {
	var out []byte // nil while there are none
	quoted, done := false, 0
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case !quoted && (c == 'N' || c == 'I' || c == '-'):
			for _, word := range notFinite {
				if bytes.HasPrefix(data[i:], word) {
					out = append(append(out, data[done:i]...), "null"...)
					done = i + len(word)
					i = done - 1
					break
				}
			}
		}
	}
	if done == 0 {
		return data
	}
	return append(out, data[done:]...)
}

// A decoder makes no more than a number of parts: cells, outputs, names of what they
// have, and lines that stay lines. One takes some hundred bytes, and may have two in the
// file.
type decoder struct{ parts int }

// take takes the parts that a list or an object has, before they are made.
func (d *decoder) take(raw json.RawMessage) error {
	if d.parts -= parts(raw); d.parts < 0 {
		return fmt.Errorf("%w: more than %d cells, outputs and names in them", codeinterp.ErrTooLarge, maxParts)
	}
	return nil
}

// decode decodes a list or an object that is there.
func (d *decoder) decode(raw json.RawMessage, to any) error {
	if err := d.take(raw); err != nil {
		return err
	}
	return optional(raw, to)
}

// parts returns how many members the outermost list or object of JSON has, or one
// where there is none.
func parts(raw json.RawMessage) int {
	n, depth, quoted := 1, 0, false
	for i := 0; i < len(raw); i++ {
		switch c := raw[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '[' || c == '{':
			depth++
		case c == ']' || c == '}':
			depth--
		case c == ',' && depth == 1:
			n++
		}
	}
	return n
}

// bounded looks at what data would take before anything is made of it.
func bounded(data []byte, levels int) error {
	if !utf8.Valid(data) {
		return fmt.Errorf("%w: not UTF-8", codeinterp.ErrInvalid)
	}
	if codeinterp.DeeperThan(data, levels) || jsontally.Members(data) > maxValues {
		return fmt.Errorf("%w: more than %d levels or %d values", codeinterp.ErrTooLarge, levels, maxValues)
	}
	return nil
}

func (d *decoder) notebook(data []byte) (*Notebook, error) {
	var top object
	if err := d.decode(data, &top); err != nil {
		return nil, err
	}
	major, ok := whole(top["nbformat"])
	if !ok {
		return nil, fmt.Errorf("no nbformat, so no notebook")
	}
	if major != 4 {
		return nil, fmt.Errorf("format %d; jupyter nbconvert --to notebook makes 4 of others", major)
	}
	nb := &Notebook{}
	if err := d.decode(top["metadata"], &nb.Metadata); err != nil {
		return nil, fmt.Errorf("metadata: %w", err)
	}
	var cells []json.RawMessage
	if err := d.decode(top["cells"], &cells); err != nil {
		return nil, fmt.Errorf("cells: %w", err)
	}
	if len(cells) > MaxCells {
		return nil, fmt.Errorf("%w: %d cells, and %d are the most", codeinterp.ErrTooLarge, len(cells), MaxCells)
	}
	clear(top) // cells is another copy
	for i, raw := range cells {
		c, err := d.cell(raw)
		if err != nil {
			return nil, fmt.Errorf("cell %d: %w", i+1, err)
		}
		nb.Cells, cells[i] = append(nb.Cells, c), nil
	}
	return nb, nil
}

func (d *decoder) cell(raw json.RawMessage) (c Cell, err error) {
	var o object
	if err = d.decode(raw, &o); err != nil {
		return c, err
	}
	if err = optional(o["cell_type"], &c.Type); err != nil {
		return c, err
	}
	level := 0
	switch c.Type {
	case Code, Markdown, Raw:
	case "heading": // of format 3
		level, _ = whole(o["level"])
		level = min(max(level, 1), 6)
		c.Type = Markdown
	default:
		return c, fmt.Errorf("a cell of type %.40q", c.Type)
	}
	_ = optional(o["id"], &c.ID) // a bad one is replaced
	if c.Source, err = multiline(o["source"]); err != nil {
		return c, fmt.Errorf("source: %w", err)
	}
	if level > 0 {
		c.Source = strings.Repeat("#", level) + " " + c.Source
	}
	if err = d.decode(o["metadata"], &c.Metadata); err != nil {
		return c, fmt.Errorf("metadata: %w", err)
	}
	if c.Type != Code {
		c.Attachments = objectOrNil(o["attachments"])
		return c, nil
	}
	c.ExecutionCount, _ = whole(o["execution_count"])
	if c.Outputs, err = d.outputs(o["outputs"]); err != nil {
		return c, err
	}
	return c, nil
}

func (d *decoder) outputs(raw json.RawMessage) ([]Output, error) {
	var list []json.RawMessage
	if err := d.decode(raw, &list); err != nil {
		return nil, fmt.Errorf("outputs: %w", err)
	}
	if len(list) == 0 {
		return nil, nil
	}
	outputs := make([]Output, len(list))
	for i, raw := range list {
		var err error
		if outputs[i], err = d.output(raw); err != nil {
			return nil, fmt.Errorf("output %d: %w", i+1, err)
		}
		list[i] = nil
	}
	return outputs, nil
}

func (d *decoder) output(raw json.RawMessage) (out Output, err error) {
	var o object
	if err = d.decode(raw, &o); err != nil {
		return out, err
	}
	if err = optional(o["output_type"], &out.Type); err != nil {
		return out, err
	}
	switch out.Type {
	case Stream:
		if err = optional(o["name"], &out.Name); err == nil {
			out.Text, err = multiline(o["text"])
		}
	case Display, Value:
		if out.Type == Value {
			out.ExecutionCount, _ = whole(o["execution_count"])
		}
		out.Metadata = objectOrNil(o["metadata"])
		out.Data, err = d.bundle(o["data"])
	case Failure:
		// Both are shown only; what is no text there is left out.
		_ = optional(o["ename"], &out.Error)
		_ = optional(o["evalue"], &out.Message)
		err = d.decode(o["traceback"], &out.Traceback)
	default:
		err = fmt.Errorf("an output of type %.40q", out.Type)
	}
	return out, err
}

// bundle joins the lines of what is text.
func (d *decoder) bundle(raw json.RawMessage) (bundle map[string]json.RawMessage, err error) {
	if err = d.decode(raw, &bundle); err != nil {
		return nil, fmt.Errorf("data: %w", err)
	}
	for mime, value := range bundle {
		if asJSON(mime) {
			continue
		}
		text, err := multiline(value)
		if err != nil {
			return nil, fmt.Errorf("data: %.80q: %w", mime, err)
		}
		if bundle[mime], err = json.Marshal(text); err != nil {
			return nil, err
		}
	}
	return bundle, nil
}

// asJSON reports whether the format keeps values of the MIME type as they are.
func asJSON(mime string) bool {
	sub, ok := strings.CutPrefix(mime, "application/")
	return ok && (sub == "json" || strings.HasSuffix(sub, "+json")) && !strings.Contains(mime, "\n")
}

// optional decodes what is there.
func optional(raw json.RawMessage, to any) error {
	if raw == nil {
		return nil
	}
	return json.Unmarshal(raw, to)
}

// multiline decodes a text, which may be a list of its lines. These are not kept one
// by one, and so are no parts.
func multiline(raw json.RawMessage) (string, error) {
	var text string
	if raw == nil || json.Unmarshal(raw, &text) == nil {
		return text, nil
	}
	in := json.NewDecoder(bytes.NewReader(raw))
	if t, err := in.Token(); err != nil || t != json.Delim('[') {
		return "", cmp.Or(err, errors.New("neither a text nor a list of lines"))
	}
	var all strings.Builder
	for in.More() {
		var line string
		if err := in.Decode(&line); err != nil {
			return "", err
		}
		all.WriteString(line)
	}
	return all.String(), nil
}

// whole decodes a number that counts something.
func whole(raw json.RawMessage) (int, bool) {
	var n *int64
	if optional(raw, &n) != nil || n == nil || *n < 0 || *n > math.MaxInt32 {
		return 0, false
	}
	return int(*n), true
}

// objectOrNil returns what is an object as it is.
func objectOrNil(raw json.RawMessage) json.RawMessage {
	if text := bytes.TrimSpace(raw); len(text) == 0 || text[0] != '{' {
		return nil
	}
	return raw
}
