package codemode

import (
	"bytes"
	"encoding/json"

	"github.com/toolcell/toolcell/internal/plaintext"
	"github.com/toolcell/toolcell/tools/secret"
)

// redacted returns a program's JSON for a model: without secrets and invisible
// characters.
func redacted(raw json.RawMessage, s *secret.Scrubber) any {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil {
		return nil
	}
	return redactedValue(v, func(text string) string { return s.Scrub(plaintext.Clean(text)) })
}

func redactedValue(v any, text func(string) string) any {
	switch v := v.(type) {
	case string:
		return text(v)
	case json.Number: // the digits of a secret, too
		if clean := text(v.String()); clean != v.String() {
			return clean
		}
	case []any:
		for i := range v {
			v[i] = redactedValue(v[i], text)
		}
	case map[string]any:
		clean := make(map[string]any, len(v))
		for k, e := range v {
			clean[text(k)] = redactedValue(e, text)
		}
		return clean
	}
	return v
}
