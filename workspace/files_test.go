//go:build unix

package workspace_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/toolcell/toolcell/files"
	"github.com/toolcell/toolcell/tools"
	"github.com/toolcell/toolcell/workspace"
)

func someFiles(t *testing.T) *files.Workdir {
	t.Helper()
	root, err := files.OpenDir(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { root.Close() })
	return files.New(root, nil)
}

// TestFiles: the file tools stand beside those of the code, with one read_output
// for all, and by whatever names a front gives them.
func TestFiles(t *testing.T) {
	caps := workspace.Capabilities{Code: newFake("python"), Files: someFiles(t), Declared: workspace.Declaration{Files: true}}
	ws := open(t, caps, &workspace.Options{Tools: tools.Options{ReadOutput: true}})
	front, err := ws.Front(&workspace.FrontOptions{Namer: tools.Unprefixed})
	if err != nil {
		t.Fatal(err)
	}
	own, err := tools.ForFiles("demo", ws.Files(), nil)
	if err != nil {
		t.Fatal(err)
	}
	want := "run_code read_output " + names(own)
	for _, list := range [][]tools.Tool{ws.Tools(), front} {
		if got := names(list); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	a := ws.Dispatch(t.Context(), "workspace__demo__write_file", []byte(`{"path":"a","content":"x"}`), nil)
	if a.Failure != nil {
		t.Fatal(a.Text)
	}
	if page, err := ws.Files().Read(t.Context(), "a", files.Range{}); err != nil || page.Text != "x" {
		t.Errorf("%+v, %v", page, err)
	}
	_, err = workspace.New("demo", workspace.Capabilities{Code: newFake("python"), Declared: workspace.Declaration{Files: true}}, nil)
	if !errors.Is(err, workspace.ErrLacking) {
		t.Errorf("opened without files: %v", err)
	}
}

// TestFileEvents: calls of the file tools are events, and can be refused.
func TestFileEvents(t *testing.T) {
	ws := open(t, workspace.Capabilities{Files: someFiles(t)}, &workspace.Options{Tools: tools.Options{
		ApproveFile: func(_ context.Context, f tools.FileCall) error {
			if f.Changes && f.Path == "locked" {
				return errors.New("it is locked")
			}
			return nil
		},
	}})
	var events []string
	ws.Subscribe(func(e workspace.Event) {
		events = append(events, fmt.Sprint(e.Seq, " ", e.Type, " ", e.Tool, " ", e.Path, " ", e.Changes, " ", e.Err != nil))
	}, nil)
	for _, step := range []struct{ op, args, code string }{
		{"write_file", `{"path":"a","content":"x"}`, ""},
		{"read_file", `{"path":"a"}`, ""},
		{"read_file", `{"path":"b"}`, tools.CodeFileNotFound},
		{"write_file", `{"path":"locked","content":"x"}`, tools.CodeRefused},
		{"list_files", `{}`, ""},
		{"remove_file", `{}`, tools.CodeInvalid}, // which does not get that far
	} {
		a := ws.Dispatch(t.Context(), "workspace__demo__"+step.op, []byte(step.args), nil)
		if (a.Failure != nil) != (step.code != "") || a.Failure != nil && a.Failure.Code != step.code {
			t.Errorf("%s: %s", step.op, a.Text)
		}
	}
	ws.Close()
	want := []string{
		"1 workspace_file workspace__demo__write_file a true false", "2 workspace_file workspace__demo__read_file a false false",
		"3 workspace_file workspace__demo__read_file b false true", "4 workspace_file workspace__demo__write_file locked true true",
		"5 workspace_file workspace__demo__list_files  false false",
	}
	if !slices.Equal(events, want) {
		t.Errorf("got %q", events)
	}
}

func TestFilesAlone(t *testing.T) {
	ws := open(t, workspace.Capabilities{Files: someFiles(t)}, nil)
	if ws.Code() != nil || len(ws.Tools()) != 7 {
		t.Errorf("%d tools", len(ws.Tools()))
	}
}
