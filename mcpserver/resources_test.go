package mcpserver_test

import (
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/toolcell/toolcell/mcpserver"
	"github.com/toolcell/toolcell/providers/inmemory"
	"github.com/toolcell/toolcell/tools"
	"github.com/toolcell/toolcell/tools/secret"
	"github.com/toolcell/toolcell/workspace"
)

// linked returns the resources that an answer names.
func linked(res *mcp.CallToolResult) (list []*mcp.ResourceLink) {
	for _, c := range res.Content {
		if l, ok := c.(*mcp.ResourceLink); ok {
			list = append(list, l)
		}
	}
	return list
}

// A file that a run wrote is a link that resources/read serves to the client of the run
// only. Without artifacts there is no template.
func TestResources(t *testing.T) {
	ci, err := inmemory.NewStateful(nil)
	if err != nil {
		t.Fatal(err)
	}
	secrets, err := secret.New("hunter22")
	if err != nil {
		t.Fatal(err)
	}
	ws, err := workspace.New("demo", workspace.Capabilities{Code: ci}, &workspace.Options{Tools: tools.Options{Artifacts: true, Secrets: secrets}})
	if err != nil {
		t.Fatal(err)
	}
	defer ws.Close()
	s, err := mcpserver.New(ws, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	c, other := connect(t, s, nil), connect(t, s, nil)
	if list, err := c.ListResourceTemplates(t.Context(), nil); err != nil || len(list.ResourceTemplates) > 0 {
		t.Errorf("templates before the first artifact: %+v, %v", list, err)
	}
	const write = "require('fs').writeFileSync('a b.txt', 'the hunter22 text'); require('fs').writeFileSync('bin', Buffer.from([0, 255]))"
	read := func(c *mcp.ClientSession, uri string) (string, error) {
		res, err := c.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: uri})
		if err != nil {
			return "", err
		}
		return res.Contents[0].Text + string(res.Contents[0].Blob), nil
	}
	id := call(t, c, "create_code_context", "language", "javascript").StructuredContent.(map[string]any)["contextId"].(string)
	for _, res := range []*mcp.CallToolResult{
		call(t, c, "run_code", "language", "javascript", "code", write),
		call(t, c, "run_in_code_context", "contextId", id, "code", write),
	} {
		links := linked(res)
		if len(links) != 2 || links[0].Name != "a b.txt" || links[0].MIMEType != "text/plain" || *links[0].Size != 17 {
			t.Fatalf("%s: links %+v", text(res), links)
		}
		if got, err := read(c, links[0].URI); err != nil || !strings.HasPrefix(got, "the ") || strings.Contains(got, "hunter22") {
			t.Errorf("text: %q, %v", got, err)
		}
		if got, err := read(c, links[1].URI); got != "\x00\xff" || err != nil {
			t.Errorf("bytes: %q, %v", got, err)
		}
		if got, err := read(other, links[0].URI); err == nil {
			t.Errorf("another client reads %q", got)
		}
	}
	for c, want := range map[*mcp.ClientSession]int{c: 4, other: 0} {
		if list, err := c.ListResources(t.Context(), nil); err != nil || len(list.Resources) != want {
			t.Errorf("%+v, %v, want %d", list, err, want)
		}
	}
	last := linked(call(t, c, "run_in_code_context", "contextId", id, "code", "require('fs').writeFileSync('big', 'x'.repeat(9 << 20))"))
	if _, err := read(c, last[0].URI); err == nil || !strings.Contains(err.Error(), "too large") {
		t.Errorf("a file of 9 MiB: %v", err)
	}
	call(t, c, "delete_code_context", "contextId", id)
	if _, err := read(c, last[0].URI); err == nil {
		t.Error("a file of a context that was deleted is read")
	}
	if _, err := read(c, "file:///etc/passwd"); err == nil {
		t.Error("a file of the host is read")
	}
}
