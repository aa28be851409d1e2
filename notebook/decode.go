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

// An object has members with exact names; names of struct fields ignore case.
type object map[string]json.RawMessage

// Decode reads a notebook of format 4.0 to 4.5. NaN and infinities, which Python writes
// and JSON does not have, become null. An error is an ErrInvalid, or an ErrTooLarge.
func Decode(data []byte) (*Notebook, error) {
	if len(data) > MaxBytes {
		return nil, fmt.Errorf("notebook: %w: %d bytes; the limit is %d", codeinterp.ErrTooLarge, len(data), MaxBytes)
	}
	if err := bounded(data, MaxDepth); err != nil {
		return nil, fmt.Errorf("notebook: %w", err)
	}
	nb, err := decodeNotebook(finite(data))
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

// finite replaces numbers that JSON does not have with null.
func finite(data []byte) []byte {
	var out []byte // nil if there are none
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

// bounded checks data before it is decoded.
func bounded(data []byte, levels int) error {
	if !utf8.Valid(data) {
		return fmt.Errorf("%w: not UTF-8", codeinterp.ErrInvalid)
	}
	if codeinterp.DeeperThan(data, levels) || jsontally.Members(data) > maxValues {
		return fmt.Errorf("%w: more than %d levels or %d values", codeinterp.ErrTooLarge, levels, maxValues)
	}
	return nil
}

func decodeNotebook(data []byte) (*Notebook, error) {
	var top object
	if err := optional(data, &top); err != nil {
		return nil, err
	}
	major, ok := whole(top["nbformat"])
	if !ok {
		return nil, fmt.Errorf("no nbformat: not a notebook")
	}
	if major != 4 {
		return nil, fmt.Errorf("format %d; convert it with jupyter nbconvert --to notebook", major)
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
		return nil, fmt.Errorf("%w: %d cells; the limit is %d", codeinterp.ErrTooLarge, len(cells), MaxCells)
	}
	clear(top) // cells is another copy
	room := maxOutputs
	for i, raw := range cells {
		c, err := decodeCell(raw, room)
		if err != nil {
			return nil, fmt.Errorf("cell %d: %w", i+1, err)
		}
		room -= len(c.Outputs)
		nb.Cells, cells[i] = append(nb.Cells, c), nil
	}
	return nb, nil
}

func decodeCell(raw json.RawMessage, room int) (c Cell, err error) {
	var o object
	if err = optional(raw, &o); err != nil {
		return c, err
	}
	if err = optional(o["cell_type"], &c.Type); err != nil {
		return c, err
	}
	if c.Type != Code && c.Type != Markdown && c.Type != Raw {
		return c, fmt.Errorf("unknown cell type %.40q", c.Type)
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
	if c.Outputs, err = decodeOutputs(o["outputs"], room); err != nil {
		return c, err
	}
	return c, nil
}

func decodeOutputs(raw json.RawMessage, room int) (outputs []Output, err error) {
	var list []json.RawMessage
	if err := optional(raw, &list); err != nil {
		return nil, fmt.Errorf("outputs: %w", err)
	}
	if len(list) > room {
		return nil, fmt.Errorf("%w: more than %d outputs", codeinterp.ErrTooLarge, maxOutputs)
	}
	for i, raw := range list {
		out, err := decodeOutput(raw)
		if err != nil {
			return nil, fmt.Errorf("output %d: %w", i+1, err)
		}
		outputs = append(outputs, out)
	}
	return outputs, nil
}

func decodeOutput(raw json.RawMessage) (out Output, err error) {
	var o object
	if err = optional(raw, &o); err != nil {
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
		// Front ends show both; other JSON than a string is left out.
		_ = optional(o["ename"], &out.Error)
		_ = optional(o["evalue"], &out.Message)
		err = optional(o["traceback"], &out.Traceback)
	default:
		err = fmt.Errorf("unknown output type %.40q", out.Type)
	}
	return out, err
}

// decodeBundle decodes a MIME bundle and joins the lines of its texts.
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

// optional decodes raw if it is present.
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
	in := json.NewDecoder(bytes.NewReader(raw))
	if t, err := in.Token(); err != nil || t != json.Delim('[') {
		return "", cmp.Or(err, errors.New("neither a string nor a list of strings"))
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

// whole decodes a count.
func whole(raw json.RawMessage) (int, bool) {
	var n *int64
	if optional(raw, &n) != nil || n == nil || *n < 0 || *n > math.MaxInt32 {
		return 0, false
	}
	return int(*n), true
}

// objectOrNil returns raw if it is an object, otherwise nil.
func objectOrNil(raw json.RawMessage) json.RawMessage {
	if text := bytes.TrimSpace(raw); len(text) == 0 || text[0] != '{' {
		return nil
	}
	return raw
}
