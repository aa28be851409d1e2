//go:build full

package main

import (
	"context"
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/humanevaltest"
	"github.com/toolcell/toolcell/internal/jupytertest"
)

// TestHumanEval wants all programs to have the same verdict in a context of the
// subprocess provider and of the jupyter provider. With the race detector it is a
// quarter of them, others than the quarter of providers/subprocess.
func TestHumanEval(t *testing.T) {
	programs := humanevaltest.Programs(t)
	if !works(t, "subprocess") {
		t.Skip("no subprocess provider on this machine") // in CI works has failed
	}
	flags := []providerFlags{{provider: "subprocess"}, {provider: "jupyter", jupyterFlags: jupyterFlags{url: jupytertest.Server(t)}}}
	flags[0].narrow("python")
	var runs []func(code string) string
	for i := range flags {
		opened, err := flags[i].open(t.Context(), true)
		if err != nil {
			t.Fatal(err)
		}
		defer opened.Close()
		ci := opened.(codeinterp.StatefulInterpreter)
		id, err := ci.CreateContext(t.Context(), "python", nil)
		if err != nil {
			t.Fatal(err)
		}
		runs = append(runs, func(code string) string { return verdict(t.Context(), ci, id, code) })
	}
	ran, counts := 0, map[string]int{}
	for i, code := range programs {
		theirs, ours := runs[0](code), runs[1](code)
		counts[ours]++
		ran++
		if theirs != ours || i%2 == 0 && ours != "ok" {
			t.Errorf("program %d: %s by subprocess, %s by jupyter", i, theirs, ours)
		}
	}
	t.Logf("%d programs: %v", ran, counts)
}

func verdict(ctx context.Context, ci codeinterp.StatefulInterpreter, id codeinterp.ContextID, code string) string {
	res, err := ci.RunInContext(ctx, id, code, &codeinterp.RunOptions{Timeout: time.Minute})
	switch {
	case err != nil:
		return err.Error()
	case res.Error != nil:
		return res.Error.Name
	}
	return string(res.Status)
}
