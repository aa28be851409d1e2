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

// Options tune Run. The zero value is ready to use.
type Options struct {
	// Language is what the cells are run as. Empty means what the notebook
	// says: the language that the interpreter has for its kernelspec, or else
	// that of its language_info.
	Language string

	// Context is for the context that Run makes.
	Context *codeinterp.ContextOptions

	// AllowErrors goes on after cells that fail, or that run into Timeout, as
	// long as variables are kept.
	AllowErrors bool

	// Timeout bounds each cell; zero means no bound.
	Timeout time.Duration

	// MaxOutput is RunOptions.MaxOutput of each cell.
	MaxOutput int

	// Artifacts asks for Report.Artifacts, of an interpreter with
	// codeinterp.Files. Each Result lists those of its cell too.
	Artifacts bool

	// OnOutput, if set, sees the output of each cell, by its index in Cells,
	// while it runs, as RunOptions.OnOutput does.
	OnOutput func(cell int, o codeinterp.Output) error

	// OnCell, if set, is called after each cell that ran, when its outputs are
	// in the notebook.
	OnCell func(cell int, res *codeinterp.Result)
}

// A Report says how far a notebook ran.
type Report struct {
	Ran    int   // how many cells ran
	Left   int   // how many were to run behind the one at which it stopped
	Failed []int // which cells failed, by their index in Cells

	// Result is that of the first cell that failed, or else of the last that
	// ran.
	Result codeinterp.Result

	// Artifacts are the files that cells created or changed, as they were
	// behind the last one, with their content up to
	// codeinterp.MaxArtifactData in all; Truncated says what they lack.
	Artifacts []codeinterp.Artifact
	Truncated []codeinterp.Truncation
}

// OK reports whether all cells that were to run ran, and none failed that may
// not.
func (r *Report) OK() bool { return len(r.Failed) == 0 && r.Left == 0 }

// Run runs the notebook's code cells in order in a new context of ci, and puts
// what they put out into nb. A cell that fails is listed in the Report. An error
// means that the notebook cannot be run there (ErrInvalid, ErrLanguage), or is
// that of the cell's run, such as the end of ctx; what was put out until then is
// in nb. A notebook is for one goroutine at a time.
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
	// Also where ctx has ended. What cannot be deleted goes with the interpreter.
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
		return "", fmt.Errorf("%w: the notebook does not say in which language it is", codeinterp.ErrInvalid)
	}
	return codeinterp.ResolveLanguage(name, languages)
}

// describe tells the language of a notebook that does not.
func (nb *Notebook) describe(language string) {
	if nb.Language() != "" {
		return
	}
	name, _, _ := strings.Cut(language, "@")
	nb.Metadata = maps.Clone(orEmpty(nb.Metadata))
	nb.Metadata["language_info"] = json.RawMessage(`{"name":` + string(quote(name)) + `}`)
}

// running is a notebook in the course of Run.
type running struct {
	nb     *Notebook
	opts   Options
	report Report
	shown  map[string][]place // displays that can be updated
	made   made
}

// cells runs them one after the other.
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
		var u updates
		var res codeinterp.Result
		res, err = run(c.Source, &codeinterp.RunOptions{
			Timeout: r.opts.Timeout, MaxOutput: r.opts.MaxOutput, OnOutput: r.see(i, &u), Artifacts: r.opts.Artifacts,
		})
		r.made.note(&res)
		r.record(i, &res, &u)
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

// runs reports whether there is something to run.
func (c *Cell) runs() bool {
	return (c.Type == Code || c.Type == "") && strings.TrimSpace(c.Source) != "" && !c.has("skip-execution")
}

// judge notes how the cell ended, and reports whether the next one may run.
func (r *running) judge(i int, res *codeinterp.Result, err error) bool {
	if len(r.report.Failed) == 0 {
		r.report.Result = *res
	}
	// An interrupt is a StatusError too, and nothing that the cell raised.
	raised := res.Status == codeinterp.StatusError && res.Cause == "" && !res.StateLost && err == nil
	if res.OK() && !res.StateLost && err == nil || raised && r.nb.Cells[i].has("raises-exception") {
		return true
	}
	r.report.Failed = append(r.report.Failed, i)
	ended := res.Status == codeinterp.StatusOK || res.Status == codeinterp.StatusError || res.Status == codeinterp.StatusTimeout
	return r.opts.AllowErrors && ended && !res.StateLost && err == nil
}
