//go:build linux

package jupyter_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/providers/jupyter"
)

// liar has a program answer in place of files.py, also once the program's variables
// have been let go.
const liar = `
import base64
count = [0]

def text(name, base64=base64): return base64.b64encode(name).decode()

def lie(answer, count=count, kernel=get_ipython().kernel):
    def say(stream, ident, message):
        count[0] += 1
        kernel.session.send(stream, "toolcell_files_reply", answer(message["content"]), parent=message, ident=ident)
    kernel.control_handlers["toolcell_files_request"] = say
`

// TestFileLies: what a program makes up in answers about files takes neither
// memory nor time without end, and leads to no names outside.
func TestFileLies(t *testing.T) {
	t.Parallel()
	const names, pages = 8 << 20, 100
	c := realSession(t, sharedServer(t, "server6"), jupyter.WithListings(jupyter.Options{}, names, pages))
	c.ok(liar)
	dir := c.directory()
	c.ok("lie(lambda q: {'entries': [{}] * 100_000})")
	if list, err := dir.ReadDir("."); !errors.Is(err, codeinterp.ErrUnavailable) {
		t.Errorf("%d entries, %v", len(list), err)
	}
	c.ok("lie(lambda q: {'entries': [], 'after': text(b'%09d' % count[0])})")
	if list, err := dir.ReadDir("."); !errors.Is(err, codeinterp.ErrTooLarge) {
		t.Errorf("%d entries, %v", len(list), err)
	}
	c.ok("count[0] = 0; lie(lambda q: {'entries': [dict(name=text(b'x' * 10**6), mode=0o100600, size=0)] * 2, 'after': text(b'%09d' % count[0])})")
	if list, err := dir.ReadDir("."); !errors.Is(err, codeinterp.ErrTooLarge) {
		t.Errorf("%d entries, %v", len(list), err)
	}
	c.ok("assert count[0] < 10, 'pages of long names without an end'")
	for _, tt := range []struct {
		name, answer string
		artifacts    int
	}{
		{"too many", "{'whole': True, 'entries': [dict(name=text(b'f%d' % n), mode=0o010600, size=0) for n in range(1001)]}", 0},
		{"names outside", "{'whole': True, 'entries': [dict(name=text(n), mode=0o010600, size=0) for n in (b'../f', b'/f', b'', b'a/./b', b'ok')]}", 1},
		{"less than nothing", "{'whole': True, 'entries': [dict(name=text(b'f'), mode=0o010600, size=-1)]}", 0},
	} {
		res, err := c.run("lie(lambda q: "+tt.answer+")", &codeinterp.RunOptions{Artifacts: true})
		// A busy machine may take a socket along, which is told of the streams.
		lies := slices.DeleteFunc(slices.Clone(res.Truncated), func(c codeinterp.Truncation) bool {
			return c.Reason == codeinterp.TruncatedByConnection && c.Stream != "artifacts"
		})
		if err != nil || !res.OK() || len(res.Artifacts) != tt.artifacts || len(lies) != 1 || lies[0].Bytes != -1 {
			t.Errorf("%s: %+v, %v", tt.name, res, err)
		}
	}
}

// TestSizesThatLie: a file of any size that its program makes up is listed.
func TestSizesThatLie(t *testing.T) {
	t.Parallel()
	c := realSession(t, sharedServer(t, "server6"), jupyter.Options{})
	const lie = `
def answer(q, left=[text(b"x"), ""], text=text):
    if q["op"] == "changes":
        return {"whole": True, "entries": [dict(name=text(n), mode=0o100600, size=s) for n, s in ((b"a", 1), (b"b", 2**63 - 1))]}
    return {"data": left.pop(0)} if q["op"] == "read" and left else {"fault": "late"}
lie(answer)`
	res, err := c.ci.RunCode(t.Context(), "python", liar+lie, &codeinterp.RunOptions{Artifacts: true})
	if err != nil || !res.OK() || len(res.Artifacts) != 2 || string(res.Artifacts[0].Data) != "x" || res.Artifacts[1].Skipped == "" {
		t.Errorf("%+v, %v", res, err)
	}
	c.ok(liar + "\nlie(lambda q: {'entries': [dict(name=text(b'..'), mode=0o040700, size=0)]})")
	if list, err := c.directory().ReadDir("."); !errors.Is(err, codeinterp.ErrUnavailable) {
		t.Errorf("listed %v, %v", list, err)
	}
}
