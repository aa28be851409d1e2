package scrub

import (
	"bytes"
	"encoding/json"
	"io"
)

// JSON scrubs the keys and the strings of a JSON text, also where they are
// written with escapes. Text that is no JSON is scrubbed as it is. It works on nil.
func (s *Set) JSON(raw json.RawMessage) json.RawMessage {
	if s == nil || len(raw) == 0 {
		return raw
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return s.json(raw)
	}
	if _, err := d.Token(); err != io.EOF {
		return s.json(raw)
	}
	changed := false
	v = s.value(v, &changed)
	if !changed {
		return s.json(raw) // a secret may be in numbers
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return json.RawMessage(`"[secret]"`)
	}
	return s.json(bytes.TrimSpace(b.Bytes()))
}

// value scrubs a decoded JSON value.
func (s *Set) value(v any, changed *bool) any {
	switch v := v.(type) {
	case string:
		clean := s.Name(v)
		*changed = *changed || clean != v
		return clean
	case []any:
		for i := range v {
			v[i] = s.value(v[i], changed)
		}
	case map[string]any:
		for key, member := range v {
			clean := s.Name(key)
			if v[key] = s.value(member, changed); clean != key {
				*changed = true
				delete(v, key)
				v[clean] = s.value(member, changed)
			}
		}
	}
	return v
}
