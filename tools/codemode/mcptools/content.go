package mcptools

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"image"
	_ "image/gif"  // what is shown of an answer is decoded first
	_ "image/jpeg" // likewise
	_ "image/png"  // likewise
	"strings"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/ansi"
	"github.com/toolcell/toolcell/tools"
	"github.com/toolcell/toolcell/tools/codemode"
)

// maxError is how many bytes of a server's error programs read.
const maxError = 4 << 10

// value returns what programs get of an answer.
func (s *server) value(res *mcp.CallToolResult) (json.RawMessage, []codemode.File, error) {
	if res.NeedsInput() {
		return nil, nil, &codeinterp.FunctionError{Message: "the tool asks a person for something, which is not possible here"}
	}
	text, files := s.content(res.Content)
	if res.IsError {
		return nil, nil, &codeinterp.FunctionError{Message: s.clean(cmp.Or(text, "the tool failed and did not say why"), maxError)}
	}
	var v any = text
	if res.StructuredContent != nil {
		v = res.StructuredContent
	}
	raw, err := json.Marshal(v)
	if err != nil {
		return nil, nil, err
	}
	if scrubbed := s.set.opts.Secrets.Scrub(string(raw)); json.Valid([]byte(scrubbed)) {
		raw = []byte(scrubbed)
	} else {
		return nil, nil, &codeinterp.FunctionError{Message: "the answer has a secret in it"}
	}
	// No text: an empty one, as beside files, would say that there is one.
	if text == "" && res.StructuredContent == nil && (len(files) > 0 || len(res.Content) == 0) {
		raw = nil
	}
	return raw, files, nil
}

// content takes an answer apart into its text and the files.
func (s *server) content(list []mcp.Content) (string, []codemode.File) {
	var texts []string
	var files []codemode.File
	for _, c := range list {
		switch c := c.(type) {
		case *mcp.TextContent:
			texts = append(texts, c.Text)
		case *mcp.ImageContent:
			files = append(files, codemode.File{MIME: c.MIMEType, Data: c.Data})
		case *mcp.AudioContent:
			files = append(files, codemode.File{MIME: c.MIMEType, Data: c.Data})
		case *mcp.ResourceLink:
			texts = append(texts, fmt.Sprintf("[resource %s: %s]", c.Name, c.URI))
		case *mcp.EmbeddedResource:
			switch r := c.Resource; {
			case r == nil:
			case len(r.Blob) > 0:
				files = append(files, codemode.File{Name: r.URI[strings.LastIndexAny(r.URI, "/:")+1:], MIME: r.MIMEType, Data: r.Blob})
			default:
				texts = append(texts, r.Text)
			}
		default:
			texts = append(texts, "[content of a kind that is not known]")
		}
	}
	for i, f := range files {
		// Replacing bytes would damage a picture; in text a secret is worth it.
		if utf8.Valid(f.Data) {
			files[i].Data = []byte(s.set.opts.Secrets.Scrub(string(f.Data)))
		}
	}
	return strings.ToValidUTF8(strings.Join(texts, "\n"), "\uFFFD"), files
}

// clean returns text of a server for a message.
func (s *server) clean(text string, n int) string {
	return clip(s.set.opts.Secrets.Scrub(ansi.Strip(text)), n)
}

const (
	maxImages = 4
	maxImage  = tools.DefaultMaxImageSize
	maxNotes  = 20 // of files that are not shown
)

// show adds the files to an answer to the model.
func show(a *tools.Answer, files []codemode.File) {
	notes := 0
	for _, f := range files {
		if len(a.Images) < maxImages {
			if i, ok := picture(f); ok {
				a.Images = append(a.Images, i)
				a.Text += fmt.Sprintf("\n[image %d]", len(a.Images))
				continue
			}
		}
		if notes++; notes <= maxNotes {
			a.Text += fmt.Sprintf("\n[%s of %d bytes, not shown]", clip(f.MIME, 100), len(f.Data))
		}
	}
	if notes > maxNotes {
		a.Text += fmt.Sprintf("\n[%d more files, not shown]", notes-maxNotes)
	}
}

// picture returns a file as an image, if it is one that a model can be shown.
func picture(f codemode.File) (tools.Image, bool) {
	c, format, err := image.DecodeConfig(bytes.NewReader(f.Data))
	if err != nil || len(f.Data) > maxImage || f.MIME != "image/"+format {
		return tools.Image{}, false
	}
	return tools.Image{MIME: f.MIME, Data: f.Data, Width: c.Width, Height: c.Height}, true
}
