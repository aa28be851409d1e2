//go:build real && unix

package subprocess_test

import (
	"testing"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/providers/subprocess"
)

// TestBytesOnTheChannel writes to the driver's own descriptor what is no frame:
// how the program ended is not known then, even if it ends well.
func TestBytesOnTheChannel(t *testing.T) {
	ci := open(t, subprocess.Options{})
	for language, code := range map[string]string{
		"python":     "import os; os.write(3, b'zzzzzzzzz'); print('hi'); 5",
		"javascript": "require('fs').writeSync(3, 'zzzzzzzzzz'); console.log('hi'); 5",
	} {
		if res := run(t, ci, language, code, nil); res.Status != codeinterp.StatusLost || res.Error == nil || res.Error.Name != "ProtocolError" {
			t.Errorf("%s: status %s, error %v", language, res.Status, res.Error)
		}
	}
}
