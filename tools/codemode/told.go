package codemode

import (
	"bytes"
	"encoding/json"

	"github.com/toolcell/toolcell/tools"
	"github.com/toolcell/toolcell/tools/secret"
)

// told returns JSON of a program's as a model gets it: without secrets, and
// without what a person does not see in it.
func told(raw json.RawMessage, s *secret.Scrubber) any {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil {
		return nil
	}
	return toldValue(v, func(text string) string { return s.Scrub(tools.CleanText(text)) })
}

func toldValue(v any, text func(string) string) any {
	switch v := v.(type) {
	case string:
		return text(v)
	case json.Number: // the digits of a secret, too
		if clean := text(v.String()); clean != v.String() {
			return clean
		}
	case []any:
		for i := range v {
			v[i] = toldValue(v[i], text)
		}
	case map[string]any:
		clean := make(map[string]any, len(v))
		for k, e := range v {
			clean[text(k)] = toldValue(e, text)
		}
		return clean
	}
	return v
}
