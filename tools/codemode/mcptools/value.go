package mcptools

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/tools/codemode"
)

// maxError is how many bytes of a server's error programs read.
const maxError = 4 << 10

// value returns the value and the files of an answer.
func (s *server) value(res *mcp.CallToolResult) (json.RawMessage, []codemode.File, error) {
	if res.NeedsInput() {
		return nil, nil, &codeinterp.FunctionError{Message: "the tool asks for input from a person, which is not supported"}
	}
	texts, files := s.content(res.Content)
	var structured json.RawMessage
	if res.StructuredContent != nil {
		var err error
		if structured, err = json.Marshal(res.StructuredContent); err != nil {
			return nil, nil, err
		}
	}
	if res.IsError {
		text := strings.Join(texts, "\n")
		if structured != nil && (text == "" || !says(structured, texts)) {
			text = strings.TrimSpace(text + "\n" + string(structured))
		}
		return nil, nil, &codeinterp.FunctionError{Message: s.clean(cmp.Or(text, "the tool failed without a reason"), maxError)}
	}
	raw := structured
	switch {
	case structured == nil:
		raw = textValue(texts)
	case len(texts) > 0 && !says(structured, texts):
		raw = withText(structured, strings.Join(texts, "\n"))
	}
	return s.set.opts.Secrets.JSON(raw), files, nil
}

// textValue returns the value of texts: the JSON object or array that they are, a list if
// there are several, otherwise a string; nil without texts.
func textValue(texts []string) json.RawMessage {
	values := make([]json.RawMessage, 0, len(texts))
	for _, t := range texts {
		if v := structure(t); v != nil {
			values = append(values, v)
		}
	}
	switch {
	case len(texts) == 0:
		return nil
	case len(values) < len(texts):
		return marshal(strings.Join(texts, "\n"))
	case len(values) == 1:
		return values[0]
	}
	return marshal(values)
}

// structure returns text if it is a JSON object or array whose integers programs can hold,
// otherwise nil.
func structure(text string) json.RawMessage {
	text = strings.TrimSpace(text)
	if text == "" || text[0] != '{' && text[0] != '[' || codeinterp.DeeperThan([]byte(text), codeinterp.MaxCallDepth) {
		return nil
	}
	var b bytes.Buffer
	if json.Compact(&b, []byte(text)) != nil || !exact(b.Bytes()) {
		return nil
	}
	return b.Bytes()
}

// exact reports whether JavaScript holds every integer of valid JSON exactly: a larger one,
// such as an id of 20 digits, would change silently.
func exact(valid []byte) bool {
	const maxSafe = 1<<53 - 1
	d := json.NewDecoder(bytes.NewReader(valid))
	d.UseNumber()
	for {
		t, err := d.Token()
		if err != nil {
			return true
		}
		n, ok := t.(json.Number)
		if !ok || strings.ContainsAny(n.String(), ".eE") {
			continue
		}
		if i, err := n.Int64(); err != nil || i > maxSafe || i < -maxSafe {
			return false
		}
	}
}

// says reports whether structured contains the texts: as the whole, or, as some SDKs do,
// as its only member or the elements of that.
func says(structured json.RawMessage, texts []string) bool {
	parts := map[string]bool{canonical(structured): true}
	if m := membersOf(structured); len(m) == 1 {
		for _, only := range m {
			parts[canonical(only)] = true
			var list []json.RawMessage
			_ = json.Unmarshal(only, &list)
			for _, item := range list {
				parts[canonical(item)] = true
			}
		}
	}
	return !slices.ContainsFunc(texts, func(t string) bool {
		return strings.TrimSpace(t) != "" && !parts[t] && !parts[canonical(json.RawMessage(t))]
	})
}

// canonical returns the string that raw is, or its JSON in one form.
func canonical(raw json.RawMessage) string {
	var v any
	if json.Unmarshal(raw, &v) != nil {
		return string(raw)
	}
	if text, ok := v.(string); ok {
		return text
	}
	return string(marshal(v))
}

// withText adds a text to a structured result as its member _text.
func withText(structured json.RawMessage, text string) json.RawMessage {
	m := membersOf(structured)
	if m == nil || m["_text"] != nil {
		return marshal(map[string]any{"value": structured, "_text": text})
	}
	m["_text"] = marshal(text)
	return marshal(m)
}

// content returns the texts of an answer and its files.
func (s *server) content(list []mcp.Content) (texts []string, files []codemode.File) {
	file := func(name, mime string, data []byte) {
		// Replacing bytes would damage a picture; in text it is worth it.
		if utf8.Valid(data) {
			data = []byte(s.set.opts.Secrets.Scrub(string(data)))
		}
		files = append(files, codemode.File{Name: s.clean(name, 200), MIME: s.clean(mime, 100), Data: data})
	}
	for _, c := range list {
		switch c := c.(type) {
		case *mcp.TextContent:
			texts = append(texts, strings.ToValidUTF8(c.Text, "\uFFFD"))
		case *mcp.ImageContent:
			file("", c.MIMEType, c.Data)
		case *mcp.AudioContent:
			file("", c.MIMEType, c.Data)
		case *mcp.ResourceLink:
			texts = append(texts, strings.TrimSpace(fmt.Sprintf("[resource %s: %s] %s", c.Name, c.URI, c.Description)))
		case *mcp.EmbeddedResource:
			switch r := c.Resource; {
			case r == nil:
			case len(r.Blob) > 0:
				file(r.URI[strings.LastIndexAny(r.URI, "/:")+1:], r.MIMEType, r.Blob)
			default:
				texts = append(texts, strings.ToValidUTF8(r.Text, "\uFFFD"))
			}
		default:
			texts = append(texts, string(marshal(c)))
		}
	}
	return texts, files
}
