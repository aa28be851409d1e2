package notebook_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/notebook"
)

// TestParts: what takes far more once it is decoded than it has in the file is counted
// before it is made, and what is kept as it is, or as one text, is not.
func TestParts(t *testing.T) {
	const many = 1<<19 + 1
	list := func(one string) string { return "[" + strings.Repeat(one+",", many) + one + "]" }
	names := "{" + strings.Repeat(`"a":0,`, many) + `"a":0}`
	output := func(kind, rest string) string {
		return fmt.Sprintf(`{"cell_type":"code","outputs":[{"output_type":%q,%s}]}`, kind, rest)
	}
	for name, tt := range map[string]struct {
		cell string
		want error
	}{
		"outputs":            {`{"cell_type":"code","outputs":` + list("{}") + `}`, codeinterp.ErrTooLarge},
		"members":            {names, codeinterp.ErrTooLarge},
		"metadata":           {`{"cell_type":"raw","metadata":` + names + `}`, codeinterp.ErrTooLarge},
		"representations":    {output("display_data", `"data":`+names), codeinterp.ErrTooLarge},
		"lines of an error":  {output("error", `"traceback":`+list(`""`)), codeinterp.ErrTooLarge},
		"lines":              {`{"cell_type":"code","source":` + list(`"x"`) + `}`, nil},
		"numbers":            {output("display_data", `"data":{"application/json":`+list("0")+`}`), nil},
		"values of metadata": {`{"cell_type":"raw","metadata":{"a":` + list("0") + `}}`, nil},
		"in a text":          {`{"cell_type":"raw","source":"` + strings.Repeat(`\",[`, many) + `"}`, nil},
	} {
		t.Run(name, func(t *testing.T) {
			nb, err := notebook.Decode([]byte(`{"nbformat":4,"cells":[` + tt.cell + `]}`))
			if !errors.Is(err, tt.want) {
				t.Fatal(err)
			}
			if name == "lines" && nb.Cells[0].Source != strings.Repeat("x", many+1) {
				t.Error("lines are missing")
			}
		})
	}
}
