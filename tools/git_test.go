package tools_test

import (
	"context"
	"strings"
	"testing"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/git"
	"github.com/toolcell/toolcell/tools"
)

// A fakeGit answers commands of git by their first word.
type fakeGit struct {
	codeinterp.CodeInterpreter
	answers map[string]string
}

func (f fakeGit) Describe() codeinterp.Info { return codeinterp.Info{} }

func (f fakeGit) RunCommand(_ context.Context, command string, o *codeinterp.CommandOptions) (codeinterp.Result, error) {
	words := strings.Fields(strings.ReplaceAll(command, "'", ""))
	text, ok := f.answers[words[2]+o.Cwd]
	if !ok {
		text, ok = f.answers[words[2]]
	}
	res := codeinterp.Result{Status: codeinterp.StatusOK, Outputs: []codeinterp.Output{{Kind: codeinterp.Stdout, Data: []byte(text)}}}
	if !ok {
		res = codeinterp.Result{Status: codeinterp.StatusError, ExitCode: 1, Outputs: []codeinterp.Output{{Kind: codeinterp.Stderr, Data: []byte("fatal: no")}}}
	}
	return res, nil
}

// TestGitTools: answers of git are typed and bounded, and its failures are in its words.
func TestGitTools(t *testing.T) {
	g, err := git.New(fakeGit{answers: map[string]string{
		"status":  "# branch.head main\x00" + strings.Repeat("? f\x00", 600),
		"diffnew": "",
		"diff":    strings.Repeat("+x\n", 20<<10),
		"log":     "h\x01a\x01e\x012026-01-02T03:04:05Z\x01\x1b[31msubject\x01body\x00",
	}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	list, err := tools.ForGit("demo", g, nil)
	if err != nil || len(list) != 9 {
		t.Fatalf("%d tools, %v", len(list), err)
	}
	set, err := tools.NewSet(list, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		op, args, want string
		fails          bool
	}{
		{"git_status", `{}`, `"more":100`, false},
		{"git_diff", `{"dir":"p"}`, `"missing":28672`, false},
		{"git_diff", `{"dir":"new"}`, `[no changes in the files that git tracks; the status has the others]`, false},
		{"git_diff", `{"dir":"new","staged":true}`, `[no changes in the files that git tracks; the status has the others]`, false},
		{"git_log", `{"commits":1}`, `"subject":"subject"`, false},
		{"git_push", `{}`, `git push: fatal: no`, true},
		{"git_checkout", `{"branch":"-f"}`, `invalid`, true},
		{"git_log", `{"commits":1000}`, `200`, true},
	} {
		a := set.Dispatch(t.Context(), "workspace__demo__"+tt.op, []byte(tt.args), nil)
		if got := string(a.JSON()) + a.Text; !strings.Contains(got, tt.want) {
			t.Errorf("%s %s: %.300s", tt.op, tt.args, got)
		}
		if failed := a.Failure != nil; failed != tt.fails {
			t.Errorf("%s: failed is %v: %.300s", tt.op, failed, a.Text)
		}
	}
}
