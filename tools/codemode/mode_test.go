package codemode_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/png"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/providers/inmemory"
	"github.com/toolcell/toolcell/tools"
	"github.com/toolcell/toolcell/tools/codemode"
)

func open(t *testing.T, ci codeinterp.CodeInterpreter, list []codemode.Entry, opts *codemode.Options) *codemode.Mode {
	t.Helper()
	m, err := codemode.New(ci, list, opts)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestUses(t *testing.T) {
	object := `{"type":"object"}`
	m := open(t, interpreter(t), []codemode.Entry{
		{Tool: echo("code", "", object, "")},
		{Tool: echo("direct", "", object, ""), Direct: true, Hidden: true},
		{Tool: echo("both", "", object, ""), Direct: true},
		{Tool: echo("drop-all", "", object, ""), Hidden: true, Reason: "it drops\nall ``` tables"},
	}, nil)
	var names []string
	for _, tool := range m.Tools() {
		names = append(names, tool.Name)
	}
	if got := strings.Join(names, " "); got != "run_code direct both" {
		t.Errorf("tools: %s", got)
	}
	tool := m.Tools()[0]
	for _, want := range []string{"  code(args?", "  both(args?", "\n- drop_all (the tool drop-all): it drops all ''' tables", "\n- direct: it is a tool of its own"} {
		if !strings.Contains(tool.Description, want) {
			t.Errorf("no %q in %s", want, tool.Description)
		}
	}
	if strings.Contains(tool.Description, "  direct(") || strings.Contains(tool.Description, "drop_all(") {
		t.Errorf("declared: %s", tool.Description)
	}
	got := run(t, tool, `const why = async (p) => { try { await p(); return "called" } catch (e) { return e.message } };
		console.log(await why(() => tools.drop_all({})), "/", await why(() => tools.direct({})), "/", await why(() => tools.both({})), "/", await why(() => tools.describe({name: "drop-all"})))`)
	if !strings.Contains(got, "it drops\nall ``` tables / direct: it is a tool of its own: call it directly, not from a program / called / describe: drop_all cannot be called") {
		t.Error(got)
	}
	if got := run(t, tool, `tools.nope({})`); !strings.Contains(got, "tools.nope is not a function; there is: both, code, describe, display, search\n") {
		t.Error(got)
	}
	for _, bad := range []codemode.Entry{{Tool: tools.Tool{Name: "a"}}, {Tool: tools.Tool{Name: "a"}, Direct: true}} {
		if _, err := codemode.New(interpreter(t), []codemode.Entry{bad}, nil); err == nil {
			t.Errorf("%+v is taken", bad)
		}
	}
}

func TestSet(t *testing.T) {
	entry := func(name string) codemode.Entry { return codemode.Entry{Tool: echo(name, "", `{"type":"object"}`, "")} }
	m := open(t, interpreter(t), []codemode.Entry{entry("stays"), entry("goes")}, nil)
	tool := m.Tools()[0]
	if got := run(t, tool, `1`); strings.Contains(got, "changed") {
		t.Error(got)
	}
	if err := m.Set([]codemode.Entry{entry("stays"), entry("comes")}); err != nil {
		t.Fatal(err)
	}
	got := run(t, tool, `console.log(typeof tools.stays, typeof tools.comes, typeof tools.goes, await tools.describe({name: "comes"}))`)
	for _, want := range []string{"comes(args?", "[The functions of programs have changed; new: comes; tools.describe declares them; gone: goes.]"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in %s", want, got)
		}
	}
	if got := run(t, tool, `await tools.goes({})`); !strings.Contains(got, "goes") || !strings.Contains(got, "Error") {
		t.Error(got)
	}
	if err := m.Set([]codemode.Entry{entry("a-b"), entry("a_b")}); err == nil {
		t.Error("two tools became one function")
	}
	if got := run(t, m.Tools()[0], `(await tools.comes({n: 5})).n`); strings.Contains(got, "changed") || !strings.Contains(got, "5") {
		t.Error(got)
	}
}

// picture is a tool that returns its arguments, an image, and a file whose name has a path.
func picture() codemode.Entry {
	var b bytes.Buffer
	png.Encode(&b, image.NewGray(image.Rect(0, 0, 4, 4)))
	return codemode.Entry{Tool: tools.Tool{Name: "picture"}, Files: true,
		Call: func(_ context.Context, c codeinterp.FunctionCall) (json.RawMessage, []codemode.File, error) {
			return c.Args, []codemode.File{{MIME: "image/png", Data: b.Bytes()}, {Name: "../../etc/pass`wd\x00", MIME: "x/y; z", Data: []byte("hello")}}, nil
		}}
}

func TestFiles(t *testing.T) {
	ci, err := inmemory.NewStateful(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer ci.Close()
	const program = `const r = await tools.picture({n: 1}); console.log(JSON.stringify(r)); console.log(await tools.display({handle: r._files[0].handle}));
		console.log(await tools.display({handle: "file_9"}).catch((e) => e.message));
		console.log("whole:", await tools.display(r._files[1]), await tools.display({handle: "file_1", nme: 1}).catch((e) => e.message));`
	for _, files := range []bool{false, true} {
		tool := open(t, ci, []codemode.Entry{picture()}, &codemode.Options{Files: files, Language: "javascript"}).Tools()[0]
		code := program
		if files {
			code += `console.log(require("fs").readFileSync(r._files[1].path, "utf8"))`
		}
		args, _ := json.Marshal(map[string]string{"language": "javascript", "code": code})
		a := tool.Invoke(t.Context(), tools.Invocation{Args: args})
		want := []string{`{"n":1,"_files":[{"handle":"file_1","name":"image.png","mime":"image/png"`, `"name":"pass_wd","mime":"application/octet-stream","bytes":5`, "it is shown", `no handle \"file_9\" in this run`,
			"whole: it is shown", `unknown field \"nme\"`}
		if files {
			want = append(want, `"path":"tool_files/pass_wd"`, "\nhello")
		}
		for _, w := range want {
			if !strings.Contains(a.Text, w) && !strings.Contains(a.Text, strings.ReplaceAll(w, `\"`, `"`)) {
				t.Errorf("no %s in %s", w, a.Text)
			}
		}
		if len(a.Images) != 1 || a.Images[0].Width != 4 {
			t.Errorf("%d images: %s", len(a.Images), a.Text)
		}
		if !strings.Contains(tool.Description, "_files") {
			t.Error("the description does not say how files come")
		}
	}
	if list, _ := codeinterp.Manager(ci); list != nil {
		if left, err := list.ListContexts(t.Context()); err != nil || len(left) > 0 {
			t.Errorf("contexts are left: %v, %v", left, err)
		}
	}
}

// A display is in order among the outputs, in the Result and in OnOutput.
func TestDisplayInOrder(t *testing.T) {
	mode, err := codemode.New(interpreter(t), []codemode.Entry{picture()}, &codemode.Options{Language: "javascript"})
	if err != nil {
		t.Fatal(err)
	}
	var live []codeinterp.Kind
	res, err := mode.Interpreter().RunCode(t.Context(), "javascript", `const r = await tools.picture({}); console.log("before"); await tools.display(r._files[0]); console.log("after"); 5`,
		&codeinterp.RunOptions{OnOutput: func(o codeinterp.Output) error { live = append(live, o.Kind); return nil }})
	want := []codeinterp.Kind{codeinterp.Stdout, codeinterp.Display, codeinterp.Stdout, codeinterp.Value}
	var got []codeinterp.Kind
	for _, o := range res.Outputs {
		got = append(got, o.Kind)
	}
	if err != nil || !slices.Equal(got, want) || !slices.Equal(live, want) {
		t.Errorf("%v, watched %v, %v", got, live, err)
	}
}

// No file replaces another, whatever their names.
func TestFileNames(t *testing.T) {
	ci, err := inmemory.NewStateful(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer ci.Close()
	named := codemode.Entry{Tool: tools.Tool{Name: "named"}, Call: func(context.Context, codeinterp.FunctionCall) (json.RawMessage, []codemode.File, error) {
		return nil, []codemode.File{{Name: "file_3_a", Data: []byte("first")}, {Name: "a", Data: []byte("second")}, {Name: "a", Data: []byte("third")}}, nil
	}}
	tool := open(t, ci, []codemode.Entry{named}, &codemode.Options{Files: true, Language: "javascript"}).Tools()[0]
	got := run(t, tool, `(await tools.named({}))._files.map((f) => require("fs").readFileSync(f.path, "utf8")).join()`)
	if !strings.Contains(got, "first,second,third") {
		t.Error(got)
	}
}

// Files beyond the bound are not kept, and the handle says so.
func TestFilesAreBounded(t *testing.T) {
	big := codemode.Entry{Tool: tools.Tool{Name: "big"}, Call: func(context.Context, codeinterp.FunctionCall) (json.RawMessage, []codemode.File, error) {
		return json.RawMessage(`"text"`), []codemode.File{{Name: "a.bin", Data: make([]byte, 20<<20)}}, nil
	}}
	tool := open(t, interpreter(t), []codemode.Entry{big}, nil).Tools()[0]
	got := run(t, tool, `let r; for (let i = 0; i < 4; i++) r = await tools.big({}); console.log(JSON.stringify(r)); await tools.display({handle: "file_1"})`)
	for _, want := range []string{`{"value":"text","_files":[{"name":"a.bin","mime":"application/octet-stream","bytes":20971520,"note":"not kept`, "displayed too much"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s in %s", want, got)
		}
	}
}

// Images of any tool are handles.
func TestImagesOfTools(t *testing.T) {
	own := tools.Tool{Name: "own", Invoke: func(context.Context, tools.Invocation) *tools.Answer {
		return &tools.Answer{Text: "a picture", Images: []tools.Image{{MIME: "image/png", Data: []byte("x")}}}
	}}
	tool, err := codeTool(interpreter(t), []tools.Tool{own}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := run(t, tool, `JSON.stringify(await tools.own())`); !strings.Contains(got, fmt.Sprintf(`"value":%q`, "a picture")) || !strings.Contains(got, "file_1") {
		t.Error(got)
	}
}

// eventually waits for a condition.
func eventually(t *testing.T, is func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !is(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("it has not come")
		}
	}
}

// Files without contexts is an error.
func TestFilesWantContexts(t *testing.T) {
	ci, err := inmemory.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer ci.Close()
	if _, err := codemode.New(ci, nil, &codemode.Options{Files: true}); !errors.Is(err, codeinterp.ErrInvalid) {
		t.Error(err)
	}
}

// A search called with a text fails with a message that says what it takes.
func TestSearchByPosition(t *testing.T) {
	m := open(t, interpreter(t), []codemode.Entry{{Tool: echo("orders", "", `{"type":"object"}`, "")}}, nil)
	if got := run(t, m.Tools()[0], `await tools.search("orders")`); !strings.Contains(got, `search: the arguments are not a JSON object`) {
		t.Error(got)
	}
}
