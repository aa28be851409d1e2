package scripted

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
)

var (
	toolName64   = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)
	toolName128  = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,128}$`)
	propertyName = regexp.MustCompile(`^[a-zA-Z0-9_.-]{1,64}$`)
	imageTypes   = []string{"image/png", "image/jpeg", "image/gif", "image/webp"}
)

// A strictMode is what an API demands of the schema of a strict tool.
type strictMode struct {
	allRequired bool     // every property is in required
	refused     []string // keywords
}

var (
	openAIStrict    = strictMode{true, []string{"oneOf", "allOf", "not", "if", "then", "else", "default", "minLength", "maxLength", "patternProperties", "unevaluatedProperties", "uniqueItems", "contains"}}
	anthropicStrict = strictMode{false, []string{"oneOf", "not", "if", "then", "else", "minLength", "maxLength", "minimum", "maximum", "multipleOf", "uniqueItems"}}
)

// checkSchema checks the schema of a tool's arguments.
func checkSchema(raw json.RawMessage, strict bool, mode strictMode) error {
	var s map[string]any
	if err := json.Unmarshal(raw, &s); err != nil {
		return errors.New("is no JSON object")
	}
	if s["type"] != "object" {
		return errors.New(`"type" is not "object"`)
	}
	for _, k := range []string{"anyOf", "oneOf", "allOf", "enum", "not"} {
		if _, ok := s[k]; ok {
			return fmt.Errorf("%s cannot be at the top", k)
		}
	}
	if strict {
		return mode.check("", s)
	}
	return checkNames(s)
}

// check goes through all parts of a strict schema.
func (mode strictMode) check(at string, s map[string]any) error {
	for k := range s {
		if slices.Contains(mode.refused, k) {
			return fmt.Errorf("strict: %s%s is not supported", at, k)
		}
	}
	properties, _ := s["properties"].(map[string]any)
	if s["type"] == "object" {
		if s["additionalProperties"] != false {
			return fmt.Errorf("strict: %sadditionalProperties is not false", at)
		}
		required, _ := s["required"].([]any)
		for name := range properties {
			if mode.allRequired && !slices.Contains(required, any(name)) {
				return fmt.Errorf("strict: %s%s is not in required", at, name)
			}
		}
	}
	for name, p := range properties {
		sub, ok := p.(map[string]any)
		if !ok {
			return fmt.Errorf("strict: %s%s is no schema", at, name)
		}
		if err := mode.check(at+name+".", sub); err != nil {
			return err
		}
	}
	if items, ok := s["items"].(map[string]any); ok {
		return mode.check(at+"items.", items)
	}
	return checkNames(s)
}

func checkNames(s map[string]any) error {
	properties, _ := s["properties"].(map[string]any)
	for name := range properties {
		if !propertyName.MatchString(name) {
			return fmt.Errorf("property %q does not match %s", name, propertyName)
		}
	}
	return nil
}

// checkImageURL checks the address or the data of an image.
func checkImageURL(url string) error {
	if strings.HasPrefix(url, "https://") || strings.HasPrefix(url, "http://") {
		return nil
	}
	rest, ok := strings.CutPrefix(url, "data:")
	mime, data, encoded := strings.Cut(rest, ";base64,")
	if !ok || !encoded {
		return errors.New("image is neither an address nor base64 data")
	}
	if len(url) > 20<<20 {
		return fmt.Errorf("image of %d bytes is too large", len(url))
	}
	return checkImage(mime, data)
}

// checkImage decodes an image's base64 and compares its type.
func checkImage(mime, data string) error {
	if !slices.Contains(imageTypes, mime) {
		return fmt.Errorf("image of type %q is not possible", mime)
	}
	raw, err := base64.StdEncoding.DecodeString(data)
	if err != nil {
		return fmt.Errorf("image: %w", err)
	}
	if got := http.DetectContentType(raw); got != mime {
		return fmt.Errorf("image is %s, not %s", got, mime)
	}
	return nil
}

// isObject reports whether raw is a JSON object.
func isObject(raw json.RawMessage) bool {
	raw = bytes.TrimSpace(raw)
	return len(raw) > 0 && raw[0] == '{' && json.Valid(raw)
}
