package conformance

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
)

func describedChecks() []check {
	return []check{
		{
			name:   "LatenessKept",
			clause: "a run is over at the latest Info.Lateness after its timeout, where that is given, also if its program resists",
			needs:  []Feature{Describer},
			uses:   func(p *Programs) bool { return p.Stubborn != "" },
			run:    latenessKept,
		},
		{
			name:   "LimitsHold",
			clause: "a Limit below a default makes the default smaller: a run that asks for nothing gets the limit, only a value that the caller gave is refused, and Describe tells the limit",
			scope:  stateless,
			run:    limitsHold,
		},
		{
			name:   "LimitsTold",
			clause: "what Info.Limits tells holds: a value above is ErrInvalid, and nothing is run",
			scope:  everyRun,
			needs:  []Feature{Describer},
			run:    limitsTold,
		},
		{
			name:   "ContextsDescribed",
			clause: "a language has contexts exactly where Describe says so, whatever the others have; for one without them CreateContext is ErrLanguage",
			needs:  []Feature{Describer},
			run:    contextsDescribed,
		},
	}
}

// latenessKept stops a program that resists. On a busy machine one of several
// tries has to be in time.
func latenessKept(ctx context.Context, e *env) error {
	late := codeinterp.Describe(e.ci).Lateness
	if late <= 0 {
		return nil
	}
	const timeout = 500 * time.Millisecond
	var err error
	for range busyTries {
		start := time.Now()
		res, runErr := e.runCode(ctx, e.p.Stubborn, &codeinterp.RunOptions{Timeout: timeout})
		took := time.Since(start)
		if err := wantStatus(res, runErr, codeinterp.StatusTimeout, codeinterp.ExitTimeout); err != nil {
			return err
		}
		if res.Duration <= timeout+late {
			return nil
		}
		err = fmt.Errorf("the run ended %v after its begin (%v after the call) with a timeout of %v, and Info.Lateness is %v", res.Duration, took, timeout, late)
	}
	return err
}

// limitsHold puts a Limit around the provider.
func limitsHold(ctx context.Context, e *env) error {
	o := codeinterp.LimitOptions{Timeout: 2 * time.Minute, Output: 1000, Code: 1 << 20}
	limited := *e
	limited.ci = codeinterp.Wrap(e.ci, e.s.limit(&o))
	res, err := limited.runCode(ctx, e.p.Print(strings.Repeat("0123456789", o.Output)), nil)
	if err := wantOK(res, err); err != nil {
		return fmt.Errorf("a run that asks for nothing, under a Limit: %w", err)
	}
	if n := len(res.Stdout()); n > o.Output {
		return fmt.Errorf("a run that asks for nothing keeps %d bytes under a Limit of %d", n, o.Output)
	}
	if err := limited.refused(ctx, e.p.Print("ran"), &codeinterp.RunOptions{Timeout: o.Timeout + 1}); err != nil {
		return fmt.Errorf("a Timeout above the Limit: %w", err)
	}
	got, own := codeinterp.Describe(limited.ci).Limits, codeinterp.Describe(e.ci).Limits
	// Zero would be no limit, and less than any: hence the product.
	if got.Timeout > o.Timeout || got.Output > o.Output || got.Code > o.Code || got.Timeout*time.Duration(got.Output*got.Code) == 0 {
		return fmt.Errorf("Describe tells %+v under the Limit %+v, want the smaller of each", got, o)
	}
	if got.Contexts != own.Contexts {
		return fmt.Errorf("Describe tells of %d contexts under a Limit that says nothing of them, want %d", got.Contexts, own.Contexts)
	}
	return nil
}

func limitsTold(ctx context.Context, e *env) error {
	told := codeinterp.Describe(e.ci).Limits
	code := e.p.Print("ran")
	tries := map[string]codeinterp.RunOptions{}
	if told.Timeout > 0 {
		tries["a Timeout"] = codeinterp.RunOptions{Timeout: told.Timeout + 1}
	}
	if told.Output > 0 {
		tries["a MaxOutput"] = codeinterp.RunOptions{MaxOutput: told.Output + 1}
	}
	for what, o := range tries {
		if err := e.refused(ctx, code, &o); err != nil {
			return fmt.Errorf("%s above the limits %+v: %w", what, told, err)
		}
	}
	if told.Code > 0 && told.Code < codeinterp.MaxCode {
		if err := e.refused(ctx, code+"\n"+strings.Repeat(" ", told.Code), nil); err != nil {
			return fmt.Errorf("code above the limits %+v: %w", told, err)
		}
	}
	return nil
}

func contextsDescribed(ctx context.Context, e *env) error {
	st, ok := codeinterp.Stateful(e.ci)
	some := false
	for _, l := range codeinterp.Describe(e.ci).Languages {
		some = some || l.Contexts
		if !ok || l.Contexts && !slices.Contains(e.s.languages, l.Name) {
			continue // a runtime that is not tested may be dear to start
		}
		id, err := st.CreateContext(ctx, l.Name, nil)
		switch {
		case l.Contexts && err != nil:
			return fmt.Errorf("CreateContext in %s, which has contexts by Describe: %w", l.Name, err)
		case l.Contexts:
			if err := st.DeleteContext(ctx, id); err != nil {
				return fmt.Errorf("DeleteContext: %w", err)
			}
		default:
			if wrong := wantContextError(id, err, codeinterp.ErrLanguage); wrong != nil {
				return fmt.Errorf("CreateContext in %s, which has no contexts by Describe: %w", l.Name, wrong)
			}
		}
	}
	if some != ok {
		return errors.New("Describe tells of contexts in some language exactly where the value has none")
	}
	return nil
}
