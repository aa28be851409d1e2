//go:build real && linux

package main

import (
	"strings"
	"testing"
	"time"

	"github.com/toolcell/toolcell/internal/jupytertest"
	"github.com/toolcell/toolcell/providers/jupyter"
)

func TestExecute(t *testing.T) {
	opts := &jupyter.Options{URL: jupytertest.Start(t, nil).Address()}
	const picture = "from IPython.display import display, Image\nprint('hello')\ndisplay(Image(data=b'not really a PNG', format='png'))\n"
	const shown = "data:image/png;base64,bm90IHJlYWxseSBhIFBORw=="
	for code, want := range map[string]Output{
		picture + "42":  {"hello\n", "", shown + "\n42"},
		picture + "1/0": {"hello\n", "ZeroDivisionError: division by zero\n", shown},
	} {
		got, err := Execute(t.Context(), opts, code, time.Minute)
		if err != nil || got.Stdout != want.Stdout || got.Result != want.Result || !strings.HasSuffix(got.Stderr, want.Stderr) || want.Stderr == "" && got.Stderr != "" {
			t.Errorf("%q: %+v, %v; want %+v", code, got, err, want)
		}
	}
}
