package notebook

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"unicode/utf8"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/jsontally"
)

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
	var file struct {
		Format   json.RawMessage            `json:"nbformat"`
		Metadata map[string]json.RawMessage `json:"metadata"`
		Cells    []json.RawMessage          `json:"cells"`
	}
	if err := json.Unmarshal(data, &file); err != nil {
		return nil, err
	}
	switch major, ok := whole(file.Format); {
	case !ok:
		return nil, fmt.Errorf("no nbformat: not a notebook")
	case major != 4:
		return nil, fmt.Errorf("format %d; convert it with jupyter nbconvert --to notebook", major)
	case len(file.Cells) > MaxCells:
		return nil, fmt.Errorf("%w: %d cells; the limit is %d", codeinterp.ErrTooLarge, len(file.Cells), MaxCells)
	}
	nb := &Notebook{Metadata: file.Metadata}
	room := maxOutputs
	for i, raw := range file.Cells {
		c, err := decodeCell(raw, room)
		if err != nil {
			return nil, fmt.Errorf("cell %d: %w", i+1, err)
		}
		room -= len(c.Outputs)
		nb.Cells, file.Cells[i] = append(nb.Cells, c), nil
	}
	return nb, nil
}

func decodeCell(raw json.RawMessage, room int) (c Cell, err error) {
	var cell struct {
		Type        Type                       `json:"cell_type"`
		ID          any                        `json:"id"`
		Source      multiline                  `json:"source"`
		Metadata    map[string]json.RawMessage `json:"metadata"`
		Attachments json.RawMessage            `json:"attachments"`
		Outputs     []json.RawMessage          `json:"outputs"`
		Count       json.RawMessage            `json:"execution_count"`
	}
	if err = json.Unmarshal(raw, &cell); err != nil {
		return c, err
	}
	c = Cell{Type: cell.Type, Source: string(cell.Source), Metadata: cell.Metadata}
	c.ID, _ = cell.ID.(string) // a bad one is replaced
	switch c.Type {
	case Markdown, Raw:
		c.Attachments = objectOrNil(cell.Attachments)
		return c, nil
	case Code:
	default:
		return c, fmt.Errorf("unknown cell type %.40q", c.Type)
	}
	if len(cell.Outputs) > room {
		return c, fmt.Errorf("%w: more than %d outputs", codeinterp.ErrTooLarge, maxOutputs)
	}
	c.ExecutionCount, _ = whole(cell.Count)
	for i, raw := range cell.Outputs {
		out, err := decodeOutput(raw)
		if err != nil {
			return c, fmt.Errorf("output %d: %w", i+1, err)
		}
		c.Outputs = append(c.Outputs, out)
	}
	return c, nil
}

func decodeOutput(raw json.RawMessage) (out Output, err error) {
	var o struct {
		Type      OutputType                 `json:"output_type"`
		Name      string                     `json:"name"`
		Text      multiline                  `json:"text"`
		Data      map[string]json.RawMessage `json:"data"`
		Metadata  json.RawMessage            `json:"metadata"`
		Count     json.RawMessage            `json:"execution_count"`
		Error     any                        `json:"ename"`
		Message   any                        `json:"evalue"`
		Traceback []string                   `json:"traceback"`
	}
	if err = json.Unmarshal(raw, &o); err != nil {
		return out, err
	}
	switch out.Type = o.Type; o.Type {
	case Stream:
		out.Name, out.Text = o.Name, string(o.Text)
	case Display, Value:
		if o.Type == Value {
			out.ExecutionCount, _ = whole(o.Count)
		}
		out.Metadata, out.Data = objectOrNil(o.Metadata), o.Data
		err = joinLines(o.Data)
	case Failure:
		// Front ends show both; other JSON than a string is left out.
		out.Error, _ = o.Error.(string)
		out.Message, _ = o.Message.(string)
		out.Traceback = o.Traceback
	default:
		err = fmt.Errorf("unknown output type %.40q", o.Type)
	}
	return out, err
}

// joinLines joins the lines of the texts of a MIME bundle.
func joinLines(bundle map[string]json.RawMessage) error {
	for mime, value := range bundle {
		if asJSON(mime) {
			continue
		}
		var text multiline
		if err := json.Unmarshal(value, &text); err != nil {
			return fmt.Errorf("data: %.80q: %w", mime, err)
		}
		bundle[mime] = quote(string(text))
	}
	return nil
}

// asJSON reports whether the format keeps values of the MIME type as they are.
func asJSON(mime string) bool {
	sub, ok := strings.CutPrefix(mime, "application/")
	return ok && (sub == "json" || strings.HasSuffix(sub, "+json")) && !strings.Contains(mime, "\n")
}

// A multiline is a text, which may be a list of its lines.
type multiline string

// UnmarshalJSON implements json.Unmarshaler.
func (m *multiline) UnmarshalJSON(raw []byte) error {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		*m = multiline(text)
		return nil
	}
	var list []string
	if json.Unmarshal(raw, &list) != nil {
		return errors.New("neither a string nor a list of strings")
	}
	*m = multiline(strings.Join(list, ""))
	return nil
}

// whole decodes a count.
func whole(raw json.RawMessage) (int, bool) {
	var n *int64
	if json.Unmarshal(raw, &n) != nil || n == nil || *n < 0 || *n > math.MaxInt32 {
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
