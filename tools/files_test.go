//go:build unix

package tools_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/toolcell/toolcell/files"
	"github.com/toolcell/toolcell/internal/goldentest"
	"github.com/toolcell/toolcell/tools"
	"github.com/toolcell/toolcell/tools/secret"
)

// fileTools returns the tools for a new directory.
func fileTools(t testing.TB, opts *tools.Options) (set *tools.Set, dir string) {
	t.Helper()
	dir = t.TempDir()
	root, err := files.OpenDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { root.Close() })
	list, err := tools.ForFiles("w", files.New(root, &files.Options{Dir: "/workspace"}), opts)
	if err != nil {
		t.Fatal(err)
	}
	if set, err = tools.NewSet(list, nil); err != nil {
		t.Fatal(err)
	}
	return set, dir
}

func TestFileTools(t *testing.T) {
	set, dir := fileTools(t, &tools.Options{ReadOutput: true})
	for _, tool := range set.Tools() {
		op := strings.TrimPrefix(tool.Name, "workspace__w__")
		goldentest.Check(t, "descriptions/"+op+".txt", []byte(tool.Description+"\n"))
		goldenJSON(t, "files/"+op+".json", tool.InputSchema)
		goldenJSON(t, "files/"+op+"_strict.json", tool.StrictSchema)
		if op != "read_output" && !strings.Contains(tool.Description, "/workspace") {
			t.Errorf("%s does not say where", op)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "bin"), []byte("a\x00b"), 0o600); err != nil {
		t.Fatal(err)
	}
	for i, step := range []struct {
		op, args string
		text     string // "" for the JSON
	}{
		{"write_file", `{"path":"src/a.py","content":"import os\nprint(1)\n"}`, ""},
		{"write_file", `{"path":"/workspace/src/a.py","content":"print(2)\n","append":true}`, ""},
		{"read_file", `{"path":"src/a.py"}`, "[from line 1, byte 0; the file has 28 bytes; this is its end]\nimport os\nprint(1)\nprint(2)\n"},
		{"read_file", `{"path":"src/a.py","line":2,"lines":1}`, "[from line 2, byte 10; the file has 28 bytes; the next page starts at line 3]\nprint(1)\n"},
		{"read_file", `{"path":"bin"}`, "[a binary file of 3 bytes; use a program to look into it]"},
		{"edit_file", `{"path":"src/a.py","oldText":"print(1)","newText":"print(3)"}`, ""},
		{"edit_file", `{"path":"src/a.py","oldText":"print","newText":"log","replaceAll":true}`, ""},
		{"list_files", `{"depth":2}`, "bin (3 bytes)\nsrc/\nsrc/a.py (24 bytes)"},
		{"glob", `{"pattern":"**/*.py","path":null}`, "src/a.py (24 bytes)"},
		{"grep", `{"pattern":"LOG\\(\\d","ignoreCase":true}`, "src/a.py:2:log(3)\nsrc/a.py:3:log(2)\n[skipped bin: not text]"},
		{"grep", `{"pattern":"nothing","include":"*.py"}`, "[nothing found]"},
		{"remove_file", `{"path":"src","recursive":true}`, ""},
	} {
		tool := set.Tools()[slices.IndexFunc(set.Tools(), func(tool tools.Tool) bool { return tool.Name == "workspace__w__"+step.op })]
		a := set.Dispatch(t.Context(), tool.Name, []byte(step.args), nil)
		if a.Failure != nil || step.text != "" && a.Text != step.text {
			t.Errorf("%s %s:\n%s\nwant\n%s", step.op, step.args, a.Text, step.text)
			continue
		}
		goldenJSON(t, fmt.Sprintf("files/answers/%02d_%s.json", i, step.op), a.JSON())
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(a.JSON()))
		if err == nil {
			err = schemaJudge(t, tool.OutputSchema).Validate(doc)
		}
		if err != nil {
			t.Errorf("%s: %v", step.op, err)
		}
	}
	if left, _ := os.ReadDir(dir); len(left) != 1 {
		t.Errorf("%d entries are left", len(left))
	}
}

func TestFileFaults(t *testing.T) {
	set, dir := fileTools(t, nil)
	if err := os.WriteFile(filepath.Join(dir, "f"), []byte("b b"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(dir, "full", "x"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		op, args, code string
		says           []string
	}{
		{"read_file", `{"path":"../x","line":0,"lines":"x","nope":1}`, tools.CodeInvalid, []string{"4 faults", "path:", "line:", "lines:", "nope"}},
		{"read_file", `{"path":"f","line":1,"offset":3}`, tools.CodeInvalid, []string{"not both"}},
		{"read_file", `{}`, tools.CodeInvalid, []string{"path: required"}},
		{"read_file", `{"path":"gone"}`, tools.CodeFileNotFound, []string{"list the directory"}},
		{"read_file", `{"path":"/etc/passwd"}`, tools.CodeInvalid, []string{"outside of the directory"}},
		{"write_file", `{"path":"f","content":"x","append":"yes"}`, tools.CodeInvalid, []string{"append: need true or false"}},
		{"write_file", `{"path":"f/g","content":"x"}`, tools.CodeFile, nil},
		{"edit_file", `{"path":"f","oldText":"b","newText":"c"}`, tools.CodeInvalid, []string{"2 times", "replace all"}},
		{"edit_file", `{"path":"f","oldText":"x","newText":"c"}`, tools.CodeInvalid, []string{"not in the file"}},
		{"edit_file", `{"path":"f","oldText":"","newText":"c"}`, tools.CodeInvalid, []string{"oldText: is empty"}},
		{"grep", `{"pattern":"(","include":"{"}`, tools.CodeInvalid, []string{"2 faults", "pattern:", "include:"}},
		{"glob", `{"pattern":"/etc/*"}`, tools.CodeInvalid, []string{"relative"}},
		{"remove_file", `{"path":"gone"}`, tools.CodeFileNotFound, nil},
		{"remove_file", `{"path":"full"}`, tools.CodeFile, []string{"not empty; set recursive"}},
		{"remove_file", `{"path":".","recursive":true}`, tools.CodeInvalid, []string{"cannot be removed"}},
	} {
		a := set.Dispatch(t.Context(), "workspace__w__"+tt.op, []byte(tt.args), nil)
		if a.Failure == nil || a.Failure.Code != tt.code || strings.Contains(a.Text, dir) {
			t.Errorf("%s %s: %s", tt.op, tt.args, a.Text)
		}
		for _, part := range tt.says {
			if !strings.Contains(a.Text, part) {
				t.Errorf("%s %s: %s; want %q", tt.op, tt.args, a.Text, part)
			}
		}
	}
	if got, _ := os.ReadFile(filepath.Join(dir, "f")); string(got) != "b b" {
		t.Errorf("the file is %q", got)
	}
}

// TestFileSecrets: no secret comes out of contents, names or searches, also
// where a page ends in its middle.
func TestFileSecrets(t *testing.T) {
	secrets, err := secret.New("hunter2-hunter2")
	if err != nil {
		t.Fatal(err)
	}
	set, dir := fileTools(t, &tools.Options{Secrets: secrets, MaxText: 1024})
	text := strings.Repeat("x", 1015) + "hunter2-hunter2" + strings.Repeat("y", 100)
	for name, data := range map[string]string{"f": text, "hunter2-hunter2": "z"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, call := range [][2]string{
		{"read_file", `{"path":"f"}`}, {"read_file", `{"path":"f","offset":1020}`}, {"list_files", `{}`}, {"glob", `{"pattern":"hun*"}`},
		{"grep", `{"pattern":"hunter"}`}, {"grep", `{"pattern":"y"}`}, {"read_file", `{"path":"hunter2-hunter2/x"}`},
	} {
		a := set.Dispatch(t.Context(), "workspace__w__"+call[0], []byte(call[1]), nil)
		if all := a.Text + string(a.JSON()); strings.Contains(all, "hunter2") || strings.Contains(all, "ter2") {
			t.Errorf("%s: %s", call, all)
		}
	}
}

// TestManyFiles: what does not fit is counted, kept and can be read.
func TestManyFiles(t *testing.T) {
	set, dir := fileTools(t, &tools.Options{MaxText: 1024, ReadOutput: true})
	for i := range 150 {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("file-%03d", i)), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	a := set.Dispatch(t.Context(), "workspace__w__list_files", []byte(`{}`), nil)
	var j struct {
		Entries  []json.RawMessage
		More     string
		OutputID string
	}
	if err := json.Unmarshal(a.JSON(), &j); err != nil || j.More != "text" || j.OutputID == "" || len(a.Text) > 1300 || len(j.Entries) >= 150 {
		t.Fatalf("%v: %s", err, a.Text)
	}
	rest := set.Dispatch(t.Context(), "workspace__w__read_output", fmt.Appendf(nil, `{"outputId":%q,"offset":2000}`, j.OutputID), nil)
	if !strings.Contains(rest.Text, "file-149") {
		t.Error(rest.Text)
	}
	a = set.Dispatch(t.Context(), "workspace__w__list_files", []byte(`{"limit":3}`), nil)
	if !strings.Contains(a.Text, "there are more") || strings.Count(a.Text, "file-") != 3 {
		t.Error(a.Text)
	}
}

// TestTurnKeepsTheOrderOfAPath: calls about one path are served as written.
func TestTurnKeepsTheOrderOfAPath(t *testing.T) {
	set, dir := fileTools(t, nil)
	var calls []tools.Invocation
	for i := range 20 {
		calls = append(calls, tools.Invocation{
			ID: fmt.Sprint(i), Tool: "workspace__w__write_file", Args: fmt.Appendf(nil, `{"path":"./f","content":"%d,","append":true}`, i),
		})
	}
	set.DispatchAll(t.Context(), calls, nil)
	got, _ := os.ReadFile(filepath.Join(dir, "f"))
	if want := "0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,"; string(got) != want {
		t.Errorf("got %s", got)
	}
}

func TestFilesCanceled(t *testing.T) {
	set, _ := fileTools(t, nil)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	a := set.Dispatch(ctx, "workspace__w__write_file", []byte(`{"path":"f","content":"x"}`), nil)
	if a.Failure == nil || a.Failure.Code != tools.CodeCanceled || !errors.Is(a.Err, context.Canceled) {
		t.Errorf("got %s", a.Text)
	}
}
