//go:build unix && real && full

package subprocess_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/providers/subprocess"
)

// client runs cells as nbclient does, with ipykernel, and prints what each gives. The
// commands of a kernel write to a terminal.
const client = `
import json, sys, nbformat, nbclient
cells = json.load(sys.stdin)
nb = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(c) for c in cells])
nbclient.NotebookClient(nb, kernel_name='python3', allow_errors=True, timeout=120).execute()
out = []
for cell in nb.cells:
    text = ''.join(o.text for o in cell.outputs if o.output_type == 'stream' and o.name == 'stdout').replace('\r\n', '\n')
    shown = [o.data.get('text/plain', '') for o in cell.outputs if o.output_type == 'execute_result']
    images = sum('image/png' in o.get('data', {}) for o in cell.outputs)
    error = next((o.ename for o in cell.outputs if o.output_type == 'error'), '')
    out.append([text, ''.join(shown), images, error])
print(json.dumps(out))
`

// agreeing are notebooks whose outputs are the same in every run.
var agreeing = map[string][]string{
	"shell": {
		"%cd /", "!echo one; echo two", "files = !printf 'a\\nb\\n'\nfiles", "len(files), files.s",
		"name = 'x'\nfor i in range(2):\n    !echo $i {name * 2}", "%%bash\nfor i in 1 2; do echo $i; done", "%%sh\necho sh", "!false\n_exit_code",
		"%env A_VARIABLE=1", "import os\nos.environ['A_VARIABLE']", "%env A_VARIABLE",
	},
	"values": {
		"1 + 1", "_ + 1", "_1", "x = 5", "_", "'text'", "print(_)", "x;", "display(x)\nx", "%%capture got\nprint('hidden')\n3", "got.stdout", "1/0", "x % 3", "undefined",
	},
	"files": {
		"import os\nos.makedirs('nb', exist_ok=True)\nos.chdir('nb')", "%%writefile a.py\nvalue = 3\n", "%run a.py\nvalue", "%%writefile -a a.py\nvalue = 4\n", "!cat a.py", "text = '''\n%time\n!ls\n'''\ntext", "%config InlineBackend.figure_format = 'png'\n2",
	},
	"plots": {
		"%matplotlib inline\nimport matplotlib.pyplot as plt", "_ = plt.plot([1, 2])", "fig, ax = plt.subplots()\n_ = ax.plot([2, 1])\nplt.show()\nprint('shown')", "import pandas as pd\npd.DataFrame({'a': [1, 2]})", "pd.Series([1.5, 2])",
	},
}

// TestNotebooksAgree: cells give what nbclient gives with ipykernel.
func TestNotebooksAgree(t *testing.T) {
	python, err := filepath.Abs("../../.testenv/jupyter/server7/bin/python")
	if err != nil {
		t.Fatal(err)
	}
	l := subprocess.Python()
	l.Commands = []string{python}
	ci := open(t, subprocess.Options{Languages: []subprocess.Language{l}})
	for name, cells := range agreeing {
		t.Run(name, func(t *testing.T) {
			in, err := json.Marshal(cells)
			if err != nil {
				t.Fatal(err)
			}
			cmd := exec.CommandContext(t.Context(), python, "-c", client)
			cmd.Dir = t.TempDir()
			cmd.Stdin, cmd.Stderr = strings.NewReader(string(in)), os.Stderr
			out, err := cmd.Output()
			if err != nil {
				t.Fatal(err)
			}
			var want [][4]any
			if err := json.Unmarshal(out, &want); err != nil {
				t.Fatal(err)
			}
			n := newNotebook(t, ci, "python")
			for i, cell := range cells {
				res := n.run(cell, nil)
				got := [4]any{res.Stdout(), "", 0.0, ""}
				for _, o := range res.Outputs {
					for _, r := range o.Bundle {
						if o.Kind == codeinterp.Value && r.MIME == "text/plain" {
							got[1] = string(r.Data)
						}
					}
				}
				got[2] = float64(pngs(res))
				if res.Error != nil {
					got[3] = res.Error.Name
				}
				if got != want[i] {
					t.Errorf("%q: got %q, nbclient %q", cell, got, want[i])
				}
			}
		})
	}
}
