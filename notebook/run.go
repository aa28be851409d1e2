package notebook

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
)

// Options configures [Run]. The zero value is ready to use.
type Options struct {
	// Language is the language of the cells. Empty means that of the notebook's
	// kernelspec, otherwise that of its language_info.
	Language string

	// Context configures the context that Run creates.
	Context *codeinterp.ContextOptions

	// AllowErrors continues after cells that fail or reach Timeout, unless
	// variables are lost.
	AllowErrors bool

	// Timeout bounds each cell; zero means no bound.
	Timeout time.Duration

	// MaxOutput is RunOptions.MaxOutput of each cell.
	MaxOutput int

	// Artifacts requests Report.Artifacts, from an interpreter with
	// codeinterp.Files. Each Result also lists those of its cell.
	Artifacts bool

	// OnOutput, if set, receives the output of each cell, by its index in Cells,
	// as RunOptions.OnOutput does.
	OnOutput func(cell int, o codeinterp.Output) error

	// OnCell, if set, is called after each cell, with its outputs in the
	// notebook.
	OnCell func(cell int, res *codeinterp.Result)
}

// A Report is the result of [Run].
type Report struct {
	Ran    int   // cells that ran
	Left   int   // cells after the one at which it stopped
	Failed []int // cells that failed, by their index in Cells

	// Result is that of the first cell that failed, otherwise of the last one.
	Result codeinterp.Result

	// Artifacts are the files that cells created or changed, as they are after
	// the last one, with at most codeinterp.MaxArtifactData bytes of content in
	// all. Truncated lists what is missing.
	Artifacts []codeinterp.Artifact
	Truncated []codeinterp.Truncation
}

// OK reports whether all cells ran, and none failed that must not fail.
func (r *Report) OK() bool { return len(r.Failed) == 0 && r.Left == 0 }

// Run runs the notebook's code cells in order in a new context of ci, and writes their
// outputs into nb. The Report lists cells that fail. The error is ErrInvalid or
// ErrLanguage if ci cannot run the notebook, otherwise that of a run, such as the end of
// ctx; nb has the outputs until then. opts may be nil. Use a Notebook in one goroutine at
// a time.
func Run(ctx context.Context, ci codeinterp.CodeInterpreter, nb *Notebook, opts *Options) (Report, error) {
	r := &running{nb: nb, shown: map[string][]place{}}
	if opts != nil {
		r.opts = *opts
	}
	s, ok := codeinterp.Stateful(ci)
	if !ok {
		return Report{}, fmt.Errorf("notebook: %w: the interpreter keeps no variables between cells", codeinterp.ErrInvalid)
	}
	language, err := nb.choose(r.opts.Language, ci.Languages())
	if err != nil {
		return Report{}, fmt.Errorf("notebook: %w", err)
	}
	id, err := s.CreateContext(ctx, language, r.opts.Context)
	if err != nil {
		return Report{}, err
	}
	// Even if ctx has ended. Close of the interpreter deletes what is left.
	defer func() { _ = s.DeleteContext(context.WithoutCancel(ctx), id) }()
	nb.describe(language)
	err = r.cells(func(code string, o *codeinterp.RunOptions) (codeinterp.Result, error) {
		return s.RunInContext(ctx, id, code, o)
	})
	r.report.Artifacts, r.report.Truncated = r.made.gather(ctx, ci, id)
	return r.report, err
}

// choose returns the language to run as.
func (nb *Notebook) choose(name string, languages []string) (string, error) {
	if name == "" {
		name = nb.Language()
		// A server may have several kernelspecs of one language, named as
		// language@kernelspec.
		if l, err := codeinterp.ResolveLanguage(name+"@"+nb.kernelspec(), languages); err == nil {
			return l, nil
		}
	}
	if name == "" {
		return "", fmt.Errorf("%w: the notebook does not name its language", codeinterp.ErrInvalid)
	}
	return codeinterp.ResolveLanguage(name, languages)
}

// describe adds the language to the metadata if it is missing.
func (nb *Notebook) describe(language string) {
	if nb.Language() != "" {
		return
	}
	name, _, _ := strings.Cut(language, "@")
	nb.Metadata = maps.Clone(orEmpty(nb.Metadata))
	nb.Metadata["language_info"] = json.RawMessage(`{"name":` + string(quote(name)) + `}`)
}

// running is the state of Run.
type running struct {
	nb     *Notebook
	opts   Options
	report Report
	made   writtenFiles
	shown  map[string][]place // displays by their ids
}

// A place is that of an output in a notebook.
type place struct{ cell, output int }

// update brings the displays of earlier cells up to date with what a cell has shown under
// their ids, as front ends do.
func (r *running) update(cell int, res *codeinterp.Result) {
	at := 0
	for _, o := range res.Outputs {
		if o.Kind != codeinterp.Display {
			continue
		}
		outputs := r.nb.Cells[cell].Outputs
		for outputs[at].Type != Display {
			at++
		}
		if o.DisplayID != "" {
			for _, p := range r.shown[o.DisplayID] {
				old := &r.nb.Cells[p.cell].Outputs[p.output]
				old.Data, old.Metadata = outputs[at].Data, outputs[at].Metadata
			}
			r.shown[o.DisplayID] = append(r.shown[o.DisplayID], place{cell, at})
		}
		at++
	}
}

// cells runs the cells one after the other.
func (r *running) cells(run func(string, *codeinterp.RunOptions) (codeinterp.Result, error)) (err error) {
	stopped := false
	for i := range r.nb.Cells {
		c := &r.nb.Cells[i]
		switch {
		case !c.runs():
			continue
		case stopped:
			c.clear()
			r.report.Left++
			continue
		}
		o := &codeinterp.RunOptions{Timeout: r.opts.Timeout, MaxOutput: r.opts.MaxOutput, Artifacts: r.opts.Artifacts}
		if r.opts.OnOutput != nil {
			o.OnOutput = func(out codeinterp.Output) error { return r.opts.OnOutput(i, out) }
		}
		var res codeinterp.Result
		res, err = run(c.Source, o)
		r.made.note(&res)
		c.Record(&res)
		r.update(i, &res)
		if res.Status != codeinterp.StatusNotRun {
			r.report.Ran++
		}
		stopped = !r.judge(i, &res, err)
		if r.opts.OnCell != nil {
			r.opts.OnCell(i, &res)
		}
	}
	return err
}

// runs reports whether the cell has code to run.
func (c *Cell) runs() bool {
	return (c.Type == Code || c.Type == "") && strings.TrimSpace(c.Source) != "" && !c.has("skip-execution")
}

// judge records how the cell ended, and reports whether the next one may run.
func (r *running) judge(i int, res *codeinterp.Result, err error) bool {
	if len(r.report.Failed) == 0 {
		r.report.Result = *res
	}
	// An interrupt is a StatusError, too, which the cell did not raise.
	raised := res.Status == codeinterp.StatusError && res.Cause == "" && !res.StateLost && err == nil
	if res.OK() && !res.StateLost && err == nil || raised && r.nb.Cells[i].has("raises-exception") {
		return true
	}
	r.report.Failed = append(r.report.Failed, i)
	ended := res.Status == codeinterp.StatusOK || res.Status == codeinterp.StatusError || res.Status == codeinterp.StatusTimeout
	return r.opts.AllowErrors && ended && !res.StateLost && err == nil
}
