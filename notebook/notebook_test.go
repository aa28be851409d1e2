package notebook_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/notebook"
	"github.com/toolcell/toolcell/providers/inmemory"
)

func interpreter(t testing.TB) *inmemory.Stateful {
	t.Helper()
	ci, err := inmemory.NewStateful(nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ci.Close() })
	return ci
}

// script makes a JavaScript notebook of cells: "tag,tag: code".
func script(cells ...string) *notebook.Notebook {
	nb := &notebook.Notebook{Metadata: map[string]json.RawMessage{"language_info": json.RawMessage(`{"name":"javascript"}`)}}
	for _, c := range cells {
		tags, code, _ := strings.Cut(c, ": ")
		cell := notebook.Cell{Source: code}
		if tags != "" {
			list, _ := json.Marshal(strings.Split(tags, ","))
			cell.Metadata = map[string]json.RawMessage{"tags": list}
		}
		nb.Cells = append(nb.Cells, cell)
	}
	return nb
}

// show returns the outputs of the cells, one line each.
func show(nb *notebook.Notebook) string {
	var b strings.Builder
	for i := range nb.Cells {
		c := &nb.Cells[i]
		fmt.Fprintf(&b, "[%d]", c.ExecutionCount)
		for _, o := range c.Outputs {
			switch o.Type {
			case notebook.Stream:
				fmt.Fprintf(&b, " %s=%q", o.Name, o.Text)
			case notebook.Failure:
				fmt.Fprintf(&b, " !%s", o.Error)
			default:
				fmt.Fprintf(&b, " %s=%s", o.Type, o.Data["text/plain"])
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func TestRun(t *testing.T) {
	ci := interpreter(t)
	for _, tt := range []struct {
		name  string
		cells []string
		opts  notebook.Options
		want  string
		ok    bool
		code  int // exit code of Report.Result
		left  int
	}{
		{name: "state", cells: []string{": let x = 6", ": console.log('hi'); x * 7"}, ok: true,
			want: "[1]\n[2] stdout=\"hi\\n\" execute_result=\"42\"\n"},
		{name: "stops", cells: []string{": null.x", ": 1", ":  ", ": 2"}, code: 1, left: 2,
			want: "[1] !TypeError\n[0]\n[0]\n[0]\n"},
		{name: "goes on", cells: []string{": let y = 2; null.x", ": y"}, opts: notebook.Options{AllowErrors: true}, code: 1,
			want: "[1] !TypeError\n[2] execute_result=\"2\"\n"},
		{name: "tags", cells: []string{"raises-exception: null.x", "skip-execution: console.log(1)", "x,raises-exception: 3"}, ok: true,
			want: "[1] !TypeError\n[0]\n[2] execute_result=\"3\"\n"},
		{name: "no exception for a timeout", cells: []string{"raises-exception: for(;;);", ": 1"}, opts: notebook.Options{Timeout: 50 * time.Millisecond}, code: 124, left: 1,
			want: "[1] !Timeout\n[0]\n"},
		{name: "truncated", cells: []string{": console.log('x'.repeat(99))"}, opts: notebook.Options{MaxOutput: 10}, ok: true,
			want: "[1] stdout=\"xxxxxxxxx\\n\" stderr=\"toolcell: some of stdout is missing (limit)\\n\"\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			nb := script(tt.cells...)
			report, err := notebook.Run(t.Context(), ci, nb, &tt.opts)
			if err != nil || report.OK() != tt.ok || report.Result.ExitCode != tt.code || report.Left != tt.left {
				t.Errorf("%v, %+v", err, report)
			}
			if got := show(nb); got != tt.want {
				t.Errorf("got\n%swant\n%s", got, tt.want)
			}
		})
	}
}

// TestStale: outputs of a former run are kept only where a cell is left alone.
func TestStale(t *testing.T) {
	nb := script("skip-execution: 1", ": null.x", ": 3", ": ")
	for i := range nb.Cells {
		nb.Cells[i].Outputs = []notebook.Output{{Type: notebook.Stream, Name: "stdout", Text: "old"}}
		nb.Cells[i].ExecutionCount = 9
	}
	if _, err := notebook.Run(t.Context(), interpreter(t), nb, nil); err != nil {
		t.Fatal(err)
	}
	const want = "[9] stdout=\"old\"\n[1] !TypeError\n[0]\n[9] stdout=\"old\"\n"
	if got := show(nb); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

func TestRefused(t *testing.T) {
	ci := interpreter(t)
	for _, tt := range []struct {
		name string
		ci   codeinterp.CodeInterpreter
		nb   *notebook.Notebook
		want error
	}{
		{"no state", codeinterp.Stateless(ci), script(": 1"), codeinterp.ErrInvalid},
		{"no language", ci, &notebook.Notebook{}, codeinterp.ErrInvalid},
		{"another language", ci, &notebook.Notebook{Metadata: map[string]json.RawMessage{"kernelspec": json.RawMessage(`{"language":"R"}`)}}, codeinterp.ErrLanguage},
	} {
		if _, err := notebook.Run(t.Context(), tt.ci, tt.nb, nil); !errors.Is(err, tt.want) {
			t.Errorf("%s: %v, want %v", tt.name, err, tt.want)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	nb := script(": 1", ": 2", ": 3")
	report, err := notebook.Run(ctx, ci, nb, &notebook.Options{OnCell: func(i int, _ *codeinterp.Result) {
		if i == 0 {
			cancel()
		}
	}})
	if !errors.Is(err, context.Canceled) || report.OK() || report.Ran != 1 || report.Left != 1 {
		t.Errorf("canceled: %v, %+v", err, report)
	}
	if list, err := ci.ListContexts(t.Context()); err != nil || len(list) != 0 {
		t.Errorf("contexts left: %v, %v", list, err)
	}
}

// playing emits the given outputs.
type playing struct {
	codeinterp.StatefulInterpreter
	plays [][]codeinterp.Output
	runs  int
}

func (p *playing) RunInContext(_ context.Context, _ codeinterp.ContextID, _ string, _ *codeinterp.RunOptions) (codeinterp.Result, error) {
	res := codeinterp.Result{Status: codeinterp.StatusOK, ExecutionCount: p.runs + 1}
	res.Outputs = append(res.Outputs, p.plays[p.runs]...)
	p.runs++
	return res, nil
}

// TestDecode reads what Python's own tools write: NaN is null.
func TestDecode(t *testing.T) {
	const cell = `{"cell_type":"code","metadata":{},"source":["a\n","b"],"outputs":[{"output_type":"display_data","data":{"text/html":["<","b>"],"application/json":[1,NaN,-Infinity,"NaN \" NaN"]},"metadata":{}}],"execution_count":3,"extra":1}`
	nb, err := notebook.Decode([]byte(`{"nbformat":4,"nbformat_minor":2,"metadata":{"kernelspec":{"name":"ir","language":"R"}},"cells":[` + cell + `,{"cell_type":"markdown","source":"# T","id":"a b"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	c := nb.Cells[0]
	if got := string(c.Outputs[0].Data["application/json"]); got != `[1,null,null,"NaN \" NaN"]` {
		t.Error(got)
	}
	if nb.Language() != "R" || c.Source != "a\nb" || c.ExecutionCount != 3 || string(c.Outputs[0].Data["text/html"]) != `"\u003cb\u003e"` && string(c.Outputs[0].Data["text/html"]) != `"<b>"` {
		t.Errorf("%+v", nb)
	}
	for _, tt := range []struct {
		name, text string
		want       error
	}{
		{"empty", "", codeinterp.ErrInvalid},
		{"not JSON", "{", codeinterp.ErrInvalid},
		{"no notebook", "{}", codeinterp.ErrInvalid},
		{"format 3", `{"nbformat":3,"worksheets":[]}`, codeinterp.ErrInvalid},
		{"not UTF-8", "{\"nbformat\":4,\"x\":\"\xff\"}", codeinterp.ErrInvalid},
		{"cells are no list", `{"nbformat":4,"cells":{}}`, codeinterp.ErrInvalid},
		{"unknown cell", `{"nbformat":4,"cells":[{"cell_type":"title"}]}`, codeinterp.ErrInvalid},
		{"null cell", `{"nbformat":4,"cells":[null]}`, codeinterp.ErrInvalid},
		{"source is a number", `{"nbformat":4,"cells":[{"cell_type":"code","source":1}]}`, codeinterp.ErrInvalid},
		{"unknown output", `{"nbformat":4,"cells":[{"cell_type":"code","outputs":[{"output_type":"x"}]}]}`, codeinterp.ErrInvalid},
		{"image is a number", `{"nbformat":4,"cells":[{"cell_type":"code","outputs":[{"output_type":"display_data","data":{"image/png":1}}]}]}`, codeinterp.ErrInvalid},
		{"deep", `{"nbformat":4,"x":` + strings.Repeat("[", 101), codeinterp.ErrTooLarge},
		{"many cells", `{"nbformat":4,"cells":[` + strings.Repeat("1,", notebook.MaxCells) + `1]}`, codeinterp.ErrTooLarge},
		{"many values", `{"nbformat":4,"cells":[` + strings.Repeat("1,", 5<<20) + `1]}`, codeinterp.ErrTooLarge},
		{"many objects", `{"nbformat":4,"cells":[{"cell_type":"code","outputs":[` + strings.Repeat("{},", 1<<19) + `{}]}]}`, codeinterp.ErrTooLarge},
		{"large", strings.Repeat(" ", notebook.MaxBytes+1), codeinterp.ErrTooLarge},
	} {
		if _, err := notebook.Decode([]byte(tt.text)); !errors.Is(err, tt.want) {
			t.Errorf("%s: %v, want %v", tt.name, err, tt.want)
		}
	}
}

// results are all kinds of ends and outputs.
func results() []codeinterp.Result {
	out := func(o ...codeinterp.Output) codeinterp.Result {
		return codeinterp.Result{Status: codeinterp.StatusOK, ExecutionCount: 7, Duration: time.Second, Outputs: o}
	}
	bundle := func(mime, data string) codeinterp.Output {
		return codeinterp.Output{Kind: codeinterp.Display, Bundle: []codeinterp.Representation{{MIME: mime, Data: []byte(data)}}}
	}
	list := []codeinterp.Result{
		out(), codeinterp.NotRun(),
		out(codeinterp.Output{Kind: codeinterp.Stdout, Data: []byte("a\xff\x00")}, codeinterp.Output{Kind: codeinterp.Stderr, Data: []byte("no end of line")}),
		out(codeinterp.Output{Kind: codeinterp.Value, Value: json.RawMessage(`{"a":[1]}`)}),
		out(bundle("image/png", "\x89PNG"), bundle("image/svg+xml", "<svg>\n</svg>"), bundle("application/json", `{"a":1}`),
			bundle("application/json", `{`), bundle("application/vnd.x+json", "[1,2]"), bundle("image/x+json", "[1]"),
			bundle("application/json;charset=utf-8", "1"), bundle("text/plain", "\xff"), bundle("b\xff", "x"), bundle("", "x"), bundle("application/\n+json", "1")),
		{Status: codeinterp.StatusError, ExitCode: 3},
		{Status: codeinterp.StatusError, ExitCode: 1, Error: &codeinterp.ProgramError{Name: "E\xff", Message: "m", RawTraceback: []string{"\x1b[31mE\xff"}}},
		{Status: codeinterp.StatusError, ExitCode: 130, Cause: codeinterp.CauseInterrupt},
		{Status: codeinterp.StatusTimeout, ExitCode: 124},
		{Status: codeinterp.StatusCanceled, ExitCode: 130},
		{Status: codeinterp.StatusLost, ExitCode: 137, Cause: codeinterp.CauseServer, StateLost: true},
	}
	list[2].Truncated = []codeinterp.Truncation{{Stream: "stdout", Bytes: -1, Reason: codeinterp.TruncatedByRate}}
	return list
}

func FuzzDecode(f *testing.F) {
	nb := script("raises-exception: null.x")
	for _, res := range results() {
		var c notebook.Cell
		c.Record(&res)
		nb.Cells = append(nb.Cells, c)
	}
	b, err := nb.Encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Add([]byte(`{"nbformat":4,"cells":[{"cell_type":"markdown","source":["a","b"],"attachments":{},"id":"x"}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		nb, err := notebook.Decode(data)
		if err != nil {
			if !errors.Is(err, codeinterp.ErrInvalid) && !errors.Is(err, codeinterp.ErrTooLarge) {
				t.Fatal(err)
			}
			return
		}
		b, err := nb.Encode()
		if err != nil {
			t.Fatalf("what was read cannot be written: %v", err)
		}
		again, err := notebook.Decode(b)
		if err != nil {
			t.Fatalf("what was written cannot be read: %v\n%s", err, b)
		}
		if b2, err := again.Encode(); err != nil || string(b) != string(b2) {
			t.Fatalf("%v: written\n%s\nthen\n%s", err, b, b2)
		}
	})
}

// TestArtifacts: the files that cells wrote, as they are after the last one.
func TestArtifacts(t *testing.T) {
	const begin = "const fs = require('fs'), write = fs.writeFileSync, rm = fs.unlinkSync; undefined"
	for _, tt := range []struct {
		name  string
		cells []string
		want  string // path=content
		cut   int64  // Truncation.Bytes
	}{
		{name: "none", cells: []string{": 1"}},
		{name: "as they are in the end", cells: []string{": " + begin, ": write('a.csv', '1')", ": write('b', 'b')", ": write('a.csv', '22')"}, want: "a.csv=22 b=b"},
		{name: "none that is gone", cells: []string{": " + begin, ": write('a', '1')", ": rm('a')"}},
		{name: "behind a failure", cells: []string{": " + begin, ": write('a', '1'); null.x", ": write('b', '')"}, want: "a=1"},
		{name: "more than is kept", cells: []string{": " + begin, ": write('a', 'x'.repeat(7 << 20)); write('b', 'y'.repeat(2 << 20)); write('c', 'z')"},
			want: fmt.Sprintf("a=%d b=missing c=z", 7<<20), cut: 9<<20 + 1},
		{name: "as directories", cells: []string{": " + begin, ": write('a', '1')", ": rm('a'); fs.mkdirSync('a'); write('a/b', '2')"}, want: "a/b=2"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			report, err := notebook.Run(t.Context(), interpreter(t), script(tt.cells...), &notebook.Options{Artifacts: true})
			var got []string
			for _, a := range report.Artifacts {
				text := string(a.Data)
				if a.Data == nil {
					text = "missing"
				} else if len(text) > 10 {
					text = fmt.Sprint(len(text))
				}
				got = append(got, a.Path+"="+text)
				if len(a.SHA256) != 64 || a.MIME == "" {
					t.Errorf("%+v", a)
				}
			}
			var cut int64
			for _, t := range report.Truncated {
				cut += t.Bytes
			}
			if err != nil || strings.Join(got, " ") != tt.want || cut != tt.cut {
				t.Errorf("got %q, cut %d, %v", got, cut, err)
			}
		})
	}
	report, err := notebook.Run(t.Context(), interpreter(t), script(": require('fs').writeFileSync('a', '')"), nil)
	if err != nil || report.Artifacts != nil || report.Truncated != nil {
		t.Errorf("%+v, %v", report, err)
	}
}

// TestTypes: text stays text, whatever its type, and bytes become base64.
func TestTypes(t *testing.T) {
	for _, tt := range []struct{ mime, data, want string }{
		{"application/sql", "select 1", `"select 1"`},
		{"application/x-foo", "\xff\x00", `"/wA="`},
		{"application/pdf", "%PDF", `"JVBERg=="`},
		{"image/svg+xml", "svg", `"svg"`},
		{"application/vnd.x+json", `{"a":1}`, `{"a":1}`},
	} {
		out := codeinterp.Output{Kind: codeinterp.Display, Bundle: []codeinterp.Representation{{MIME: tt.mime, Data: []byte(tt.data)}}}
		ci := &playing{StatefulInterpreter: interpreter(t), plays: [][]codeinterp.Output{{out}}}
		nb := script(": 1")
		if _, err := notebook.Run(t.Context(), ci, nb, nil); err != nil {
			t.Fatal(err)
		}
		if got := nb.Cells[0].Outputs[0].Data[tt.mime]; string(got) != tt.want {
			t.Errorf("%s: %s", tt.mime, got)
		}
	}
}
