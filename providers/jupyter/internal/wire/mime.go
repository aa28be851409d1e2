package wire

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/mimedata"
)

// valueMIME carries the JSON form of a result, as text, from the hook that
// prepare installs. Callers never see it.
const valueMIME = "application/vnd.toolcell.value"

// OutputOf turns a display, a result or a clear into an Output. It reports
// false for what is none of them or has nothing to show. value, unless nil,
// derives the JSON form of a result that brings none.
func OutputOf(typ string, content []byte, value func(*codeinterp.Output) json.RawMessage) (codeinterp.Output, bool) {
	if typ == "clear_output" {
		var c struct{ Wait bool }
		err := json.Unmarshal(content, &c)
		return codeinterp.Output{Kind: codeinterp.Clear, Wait: c.Wait}, err == nil
	}
	var c displayContent
	if err := json.Unmarshal(content, &c); err != nil {
		return codeinterp.Output{}, false
	}
	o := codeinterp.Output{Kind: codeinterp.Display, DisplayID: c.Transient.DisplayID}
	switch typ {
	case "execute_result":
		o.Kind = codeinterp.Value
		o.Value = valueOf(c.Data[valueMIME])
	case "update_display_data":
		o.Update = true
	case "display_data":
	default:
		return o, false
	}
	delete(c.Data, valueMIME)
	// More than "{}", which kernels send if there is none.
	if meta := bytes.TrimSpace(c.Metadata); len(meta) > 2 && meta[0] == '{' {
		o.Metadata = json.RawMessage(meta)
	}
	o.Bundle = bundleOf(c.Data)
	if o.Kind == codeinterp.Value && o.Value == nil && value != nil {
		o.Value = value(&o)
	}
	return o, len(o.Bundle) > 0
}

// bundleOf decodes a MIME bundle.
func bundleOf(data map[string]json.RawMessage) []codeinterp.Representation {
	var bundle []codeinterp.Representation
	for mime, raw := range data {
		bundle = append(bundle, codeinterp.Representation{MIME: mime, Data: decodeMIME(mime, raw)})
	}
	codeinterp.SortBundle(bundle)
	return bundle
}

func valueOf(raw json.RawMessage) json.RawMessage {
	var text string
	if raw == nil || json.Unmarshal(raw, &text) != nil || !json.Valid([]byte(text)) {
		return nil
	}
	return json.RawMessage(text)
}

// decodeMIME returns a representation's plain bytes: JSON as it is, and of a
// string what it stands for. Text may come as a list of lines.
func decodeMIME(mime string, raw json.RawMessage) []byte {
	if codeinterp.IsJSON(mime) {
		return raw
	}
	text, ok := textOf(raw)
	if !ok {
		return raw
	}
	if data, ok := mimedata.OfString(mime, text); ok {
		return data
	}
	return []byte(text)
}

// textOf reads a string, or a list of strings as one.
func textOf(raw json.RawMessage) (text string, ok bool) {
	if json.Unmarshal(raw, &text) == nil {
		return text, true
	}
	var lines []string
	err := json.Unmarshal(raw, &lines)
	return strings.Join(lines, ""), err == nil
}
