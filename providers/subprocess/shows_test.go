//go:build real && unix

package subprocess_test

import (
	"strings"
	"testing"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/providers/subprocess"
)

// TestBoundedShows: what a show may carry besides its data is bounded, and the
// program gets that as an error.
func TestBoundedShows(t *testing.T) {
	ci := open(t, subprocess.Options{Languages: []subprocess.Language{subprocess.Python(), subprocess.JavaScript()}})
	for _, tt := range []struct{ language, code, want string }{
		{"python", "display('x', display_id='i' * 2000)", "ValueError"},
		{"python", "display({'text/plain': 'x', 'm/' + 'm' * 300: 'y'}, raw=True)", "more than 256 bytes"},
		{"python", "display({'text/plain': 'x'} | {'text/x%d' % i: 'y' for i in range(100)}, raw=True)", "more than 64 representations"},
		{"python", "display({'text/plain': 'x'}, metadata={'k' * 100_000: 1}, raw=True)", "the metadata was dropped"},
		{"python", "display({'text/plain': 'x', '': 'y'}, raw=True)", "a MIME type is a str"},
		{"javascript", "display('text/plain', 'x', { id: 'i'.repeat(2000) })", "RangeError"},
		{"javascript", "display({ ['m/' + 'm'.repeat(300)]: 'y' })", "RangeError"},
		{"javascript", "display(Object.fromEntries(Array.from({ length: 100 }, (_, i) => ['text/x' + i, 'y'])))", "RangeError"},
		{"javascript", "display('image/png', 'no base64!')", "TypeError"},
		{"javascript", "display('no type', 'x')", "TypeError"},
		{"javascript", "display('text/plain', 'x', { metadata: { ['k'.repeat(100_000)]: 1 } })", "RangeError"},
	} {
		n := newNotebook(t, ci, tt.language)
		res := n.run(tt.code, nil)
		if !strings.Contains(summary(res)+res.Stderr(), tt.want) || res.StateLost {
			t.Errorf("%.60s: %s, %s", tt.code, summary(res), res.Stderr())
		}
		for _, o := range res.Outputs {
			if o.Kind == codeinterp.Display && o.Size() > 10_000 {
				t.Errorf("%.60s: a display of %d bytes", tt.code, o.Size())
			}
		}
	}
}

// TestForgedShows: frames that a program writes itself are held to the same
// bounds, and end its process where they are not.
func TestForgedShows(t *testing.T) {
	ci := open(t, subprocess.Options{Languages: []subprocess.Language{subprocess.Python()}})
	for _, fields := range []string{
		"b'1', b'1', b'display', b'i' * 2000, b'', b'', b'text/plain', b'x'",
		"b'1', b'1', b'display', b'', b'', b'', b'm' * 1_000_000, b'x'",
		"b'1', b'1', b'display', b'', b'', b'', *[b''] * 1_000_000",
		"b'1', b'1', b'result', b'', b'', b'1' * 2_000_000, b'text/plain', b'x'",
		"b'1', b'-1', b'display', b'', b'', b'', b'text/plain', b'x'",
	} {
		n := newNotebook(t, ci, "python")
		res := n.run(`
import os
def frame(kind, *fields):
    body = kind + b''.join(b'%08x%s' % (len(f), f) for f in fields)
    return b'%08x' % len(body) + body
b = memoryview(frame(b'D', `+fields+`))
while b: b = b[os.write(3, b):]
import time; time.sleep(90)`, nil)
		if res.Status != codeinterp.StatusLost || !res.StateLost || res.Error == nil || res.Error.Name != "ProtocolError" || len(res.Error.Message) > 500 {
			t.Errorf("%s: %.300s", fields, summary(res))
		}
	}
}
