package codeinterp_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/toolcell/toolcell/codeinterp"
)

func TestResultAccessors(t *testing.T) {
	png := rep("image/png", "p")
	res := codeinterp.Result{Outputs: []codeinterp.Output{
		{Kind: codeinterp.Stdout, Data: []byte("late"), Late: true},
		{Kind: codeinterp.Stdout, Data: []byte("a")},
		{Kind: codeinterp.Stderr, Data: []byte("x")},
		{Kind: codeinterp.Display, Bundle: []codeinterp.Representation{png, rep("text/plain", "fig")}},
		{Kind: codeinterp.Display, Bundle: []codeinterp.Representation{rep("text/html", "<b>")}},
		{Kind: codeinterp.Stdout, Data: []byte("b")},
		{Kind: codeinterp.Value, Bundle: []codeinterp.Representation{rep("text/plain", "42")}},
	}}
	if got := res.Stdout(); got != "ab" {
		t.Errorf("Stdout = %q", got)
	}
	if got := res.Stderr(); got != "x" {
		t.Errorf("Stderr = %q", got)
	}
	if got := res.Text(); got != "42" {
		t.Errorf("Text = %q", got)
	}
	if got := len(res.Displays()); got != 3 {
		t.Errorf("%d displays", got)
	}
	if got := res.Images(); len(got) != 1 || got[0].MIME != "image/png" {
		t.Errorf("Images = %v", got)
	}
	if r, ok := res.Outputs[4].Richest(); !ok || r.MIME != "text/html" {
		t.Errorf("Richest = %v, %v", r, ok)
	}
	if _, ok := res.Outputs[4].Richest("image/png"); ok {
		t.Error("an image where there is none")
	}
	if (&codeinterp.Result{}).Text() != "" {
		t.Error("text of nothing")
	}
}

func TestSortBundle(t *testing.T) {
	b := []codeinterp.Representation{rep("text/plain", ""), rep("text/html", ""), rep("application/vnd.plotly.v1+json", ""), rep("image/svg+xml", ""), rep("image/png", "")}
	codeinterp.SortBundle(b)
	var got []string
	for _, r := range b {
		got = append(got, r.MIME)
	}
	want := []string{"image/png", "image/svg+xml", "application/vnd.plotly.v1+json", "text/html", "text/plain"}
	if !slices.Equal(got, want) {
		t.Errorf("got %v", got)
	}
}

func TestErrorText(t *testing.T) {
	err := error(&codeinterp.Error{Provider: "jupyter", Op: "run", Err: codeinterp.ErrContext})
	if err.Error() != "jupyter: run: no such context" || !errors.Is(err, codeinterp.ErrContext) {
		t.Error(err)
	}
	for want, e := range map[string]codeinterp.ProgramError{"A: b": {Name: "A", Message: "b"}, "A": {Name: "A"}, "b": {Message: "b"}} {
		if got := e.Error(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestDescribeAssumesTheWorst(t *testing.T) {
	info := codeinterp.Describe(&echo{})
	if info.Isolation.Network != codeinterp.ReachOpen || info.Isolation.Backend != "none" || len(info.Languages) != 1 {
		t.Errorf("%+v", info)
	}
	if got := codeinterp.Describe(&echoDescriber{}).Provider; got != "echo" {
		t.Errorf("provider %q", got)
	}
}
