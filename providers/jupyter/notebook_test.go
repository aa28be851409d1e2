//go:build linux

package jupyter_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/toolcell/toolcell/notebook"
	"github.com/toolcell/toolcell/providers/jupyter"
)

// TestNotebook runs a notebook of Python's on real kernels, where displays,
// tags, magics and the kernel's own counts are what they are in Jupyter.
func TestNotebook(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, s *server) {
		ci, err := open(t.Context(), s, jupyter.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer ci.Close()
		tagged := func(tag, code string) notebook.Cell {
			return notebook.Cell{Source: code, Metadata: map[string]json.RawMessage{"tags": json.RawMessage(`["` + tag + `"]`)}}
		}
		nb := &notebook.Notebook{Metadata: map[string]json.RawMessage{"kernelspec": json.RawMessage(`{"name":"python3","display_name":"Python 3","language":"python"}`)}}
		nb.Cells = []notebook.Cell{
			{Type: notebook.Markdown, Source: "# Real"},
			{Source: "from IPython.display import display, HTML, Image\nimport sys\nh = display(HTML('<b>old</b>'), display_id=True)\nprint('out'); print('err', file=sys.stderr)"},
			tagged("raises-exception", "1/0"),
			tagged("skip-execution", "h = None"),
			{Source: "%%bash\necho $((6 * 7))"},
			{Source: "h.update(HTML('<b>new</b>'))\ndisplay(Image(b'\\x89PNG\\r\\n\\x1a\\n', format='png'))\n{'a': 1}"},
		}
		report, err := notebook.Run(t.Context(), ci, nb, &notebook.Options{Timeout: 5 * time.Minute})
		if err != nil || !report.OK() || report.Ran != 4 {
			t.Fatalf("%+v, %v", report, err)
		}
		var counts []int
		var types []string
		for _, c := range nb.Cells {
			counts = append(counts, c.ExecutionCount)
			for _, o := range c.Outputs {
				types = append(types, string(o.Type)+o.Name+o.Error)
			}
		}
		const want = "display_data streamstdout streamstderr errorZeroDivisionError streamstdout display_data execute_result"
		if got := strings.Join(types, " "); got != want || counts[1] != 1 || counts[2] != 2 || counts[3] != 0 || counts[5] != 4 {
			t.Errorf("counts %v, outputs %s", counts, got)
		}
		if html := nb.Cells[1].Outputs[0].Data["text/html"]; !strings.Contains(string(html), "new") {
			t.Errorf("the display was not updated: %s", html)
		}
		if tb := nb.Cells[2].Outputs[0].Traceback; !strings.Contains(strings.Join(tb, ""), "\x1b[") {
			t.Errorf("the traceback lost its colours: %q", tb)
		}
		b, err := nb.Encode()
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(t.TempDir(), "real.ipynb")
		if err := os.WriteFile(file, b, 0o600); err != nil {
			t.Fatal(err)
		}
		python := filepath.Join(filepath.Dir(s.cmd.Path), "python")
		const judge = "import nbformat, sys; nbformat.validate(nbformat.read(sys.argv[1], as_version=4))"
		if out, err := exec.CommandContext(t.Context(), python, "-c", judge, file).CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
	})
}
