package notebook

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"unicode/utf8"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/jsontally"
)

// An object is JSON whose names are exact, which structs' are not.
type object map[string]json.RawMessage

// Decode reads a notebook of format 4.0 to 4.5. An error is an ErrInvalid, or an
// ErrTooLarge.
func Decode(data []byte) (*Notebook, error) {
	if len(data) > MaxBytes {
		return nil, fmt.Errorf("notebook: %w: %d bytes, and %d are the most", codeinterp.ErrTooLarge, len(data), MaxBytes)
	}
	if err := bounded(data, MaxDepth); err != nil {
		return nil, fmt.Errorf("notebook: %w", err)
	}
	nb, err := decode(data)
	if err != nil {
		return nil, fmt.Errorf("notebook: %w: %w", codeinterp.ErrInvalid, err)
	}
	return nb, nil
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

func decode(data []byte) (*Notebook, error) {
	var top object
	if err := json.Unmarshal(data, &top); err != nil {
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
	if err := optional(top["metadata"], &nb.Metadata); err != nil {
		return nil, fmt.Errorf("metadata: %w", err)
	}
	var cells []json.RawMessage
	if err := optional(top["cells"], &cells); err != nil {
		return nil, fmt.Errorf("cells: %w", err)
	}
	if len(cells) > MaxCells {
		return nil, fmt.Errorf("%w: %d cells, and %d are the most", codeinterp.ErrTooLarge, len(cells), MaxCells)
	}
	for i, raw := range cells {
		c, err := decodeCell(raw)
		if err != nil {
			return nil, fmt.Errorf("cell %d: %w", i+1, err)
		}
		nb.Cells = append(nb.Cells, c)
	}
	return nb, nil
}

func decodeCell(raw json.RawMessage) (c Cell, err error) {
	var o object
	if err = json.Unmarshal(raw, &o); err != nil {
		return c, err
	}
	if err = optional(o["cell_type"], &c.Type); err != nil {
		return c, err
	}
	switch c.Type {
	case Code, Markdown, Raw:
	default:
		return c, fmt.Errorf("a cell of type %.40q", c.Type)
	}
	_ = optional(o["id"], &c.ID) // a bad one is replaced
	if c.Source, err = multiline(o["source"]); err != nil {
		return c, fmt.Errorf("source: %w", err)
	}
	if err = optional(o["metadata"], &c.Metadata); err != nil {
		return c, fmt.Errorf("metadata: %w", err)
	}
	if c.Type != Code {
		c.Attachments = objectOrNil(o["attachments"])
		return c, nil
	}
	c.ExecutionCount, _ = whole(o["execution_count"])
	var outputs []json.RawMessage
	if err = optional(o["outputs"], &outputs); err != nil {
		return c, fmt.Errorf("outputs: %w", err)
	}
	for i, raw := range outputs {
		out, err := decodeOutput(raw)
		if err != nil {
			return c, fmt.Errorf("output %d: %w", i+1, err)
		}
		c.Outputs = append(c.Outputs, out)
	}
	return c, nil
}

func decodeOutput(raw json.RawMessage) (out Output, err error) {
	var o object
	if err = json.Unmarshal(raw, &o); err != nil {
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
		out.Data, err = decodeBundle(o["data"])
	case Failure:
		// Both are shown only; what is no text there is left out.
		_ = optional(o["ename"], &out.Error)
		_ = optional(o["evalue"], &out.Message)
		err = optional(o["traceback"], &out.Traceback)
	default:
		err = fmt.Errorf("an output of type %.40q", out.Type)
	}
	return out, err
}

// decodeBundle joins the lines of what is text.
func decodeBundle(raw json.RawMessage) (bundle map[string]json.RawMessage, err error) {
	if err = optional(raw, &bundle); err != nil {
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

// multiline decodes a text, which may be a list of its lines.
func multiline(raw json.RawMessage) (string, error) {
	var text string
	if raw == nil || json.Unmarshal(raw, &text) == nil {
		return text, nil
	}
	var lines []string
	err := json.Unmarshal(raw, &lines)
	return strings.Join(lines, ""), err
}

// whole decodes a number that counts something.
func whole(raw json.RawMessage) (int, bool) {
	var n *int64
	if optional(raw, &n) != nil || n == nil || *n < 0 || *n > math.MaxInt32 {
		return 0, false
	}
	return int(*n), true
}

func objectOrNil(raw json.RawMessage) json.RawMessage {
	var o object
	if raw == nil || json.Unmarshal(raw, &o) != nil || o == nil {
		return nil
	}
	return raw
}
