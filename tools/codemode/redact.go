package codemode

import (
	"bytes"
	"encoding/json"

	"github.com/toolcell/toolcell/internal/plaintext"
	"github.com/toolcell/toolcell/tools/secret"
)

// redacted returns a program's JSON for a model: without secrets and invisible
// characters.
func redacted(raw json.RawMessage, s *secret.Scrubber) json.RawMessage {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil {
		return nil
	}
	// Marshal writes invisible characters as they are.
	plain, err := json.Marshal(v)
	if err != nil {
		return nil
	}
	return s.JSON(json.RawMessage(plaintext.Clean(string(plain))))
}
