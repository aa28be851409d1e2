//go:build real

package notebook_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/toolcell/toolcell/notebook"
)

// TestValid has nbformat's own validator judge what is written.
func TestValid(t *testing.T) {
	python, err := filepath.Abs("../.testenv/jupyter/server6/bin/python")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(python); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("no nbformat: run make testenv-full")
		}
		t.Skip("no nbformat: run make testenv-full")
	}
	nb := script("raises-exception: null.x", ": console.log('a\\nb'); display({'text/html': '<b>', 'application/json': {a: 1}}); 6 * 7")
	if _, err := notebook.Run(t.Context(), interpreter(t), nb, nil); err != nil {
		t.Fatal(err)
	}
	for _, res := range results() {
		c := notebook.Cell{ID: "same", Source: "x\r\ny\n"}
		c.Record(&res)
		nb.Cells = append(nb.Cells, c)
	}
	nb.Cells = append(nb.Cells,
		notebook.Cell{ID: "a b", Type: notebook.Markdown, Source: "# T", Attachments: json.RawMessage(`{"a.png":{"image/png":"aGk="}}`)},
		notebook.Cell{ID: "cell-1", Type: notebook.Raw, Source: "raw"})
	dir := t.TempDir()
	write(t, filepath.Join(dir, "made.ipynb"), nb)
	write(t, filepath.Join(dir, "empty.ipynb"), &notebook.Notebook{})
	files, err := filepath.Glob("testdata/*.ipynb")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		old, err := notebook.Decode(b)
		if err != nil {
			t.Fatal(file, err)
		}
		write(t, filepath.Join(dir, filepath.Base(file)), old)
	}
	const judge = `
import glob, pathlib, sys, nbformat
for file in glob.glob(sys.argv[1] + "/*.ipynb"):
    nb = nbformat.read(file, as_version=nbformat.NO_CONVERT)
    assert (nb.nbformat, nb.nbformat_minor) == (4, 5), file
    nbformat.validate(nb)
    text = pathlib.Path(file).read_text("utf-8")
    assert text == nbformat.writes(nb) + "\n", file + ": nbformat writes it otherwise"
`
	out, err := exec.CommandContext(t.Context(), python, "-W", "error", "-c", judge, dir).CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

func write(t *testing.T, file string, nb *notebook.Notebook) {
	t.Helper()
	b, err := nb.Encode()
	if err == nil {
		err = os.WriteFile(file, b, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	again, err := notebook.Decode(b)
	if err != nil {
		t.Fatal(err)
	}
	if b2, err := again.Encode(); err != nil || !reflect.DeepEqual(b, b2) {
		t.Errorf("%s: it does not come back as it was written: %v", file, err)
	}
}
