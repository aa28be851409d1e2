// Package plainjson encodes JSON without the escaping of <, > and &, which
// models read as noise.
package plainjson

import (
	"bytes"
	"encoding/json"
)

// Marshal is json.Marshal without that escaping.
func Marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}
