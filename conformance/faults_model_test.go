package conformance

import (
	"bytes"
	"strings"

	"github.com/toolcell/toolcell/codeinterp"
)

func modelFaults() []fault {
	replaced := func(old, by string) func(string) string {
		return func(s string) string { return strings.ReplaceAll(s, old, by) }
	}
	return []fault{
		{
			name: "one long line ends at 64 KiB", want: "GeneratedPrograms", also: "CallbacksSeeAll",
			wrap: results(func(c codeinterp.Call, res *codeinterp.Result) {
				for i := range res.Outputs {
					if o := &res.Outputs[i]; o.Kind == codeinterp.Stdout && len(o.Data) > 64<<10 && !bytes.Contains(o.Data, []byte("\n")) {
						o.Data = o.Data[:64<<10]
					}
				}
			}),
		},
		{
			name: "stderr ends at 1 MiB", want: "GeneratedPrograms", also: "CallbacksSeeAll",
			wrap: data(codeinterp.Stderr, func(s string) string { return s[:min(len(s), 1<<20)] }),
		},
		{
			name: "a byte order mark is stripped", want: "GeneratedPrograms",
			wrap: data(codeinterp.Stdout, func(s string) string { return strings.TrimPrefix(s, "\ufeff") }),
		},
		{name: "trailing blanks are stripped", want: "GeneratedPrograms", also: "StdoutExact", wrap: data(codeinterp.Stdout, replaced(" \n", "\n"))},
		{name: "accents are composed", want: "GeneratedPrograms", wrap: data(codeinterp.Stdout, replaced("e\u0301", "é"))},
		{name: "accents of stderr are composed", want: "GeneratedPrograms", wrap: data(codeinterp.Stderr, replaced("e\u0301", "é"))},
		{name: "NUL bytes are stripped", want: "GeneratedPrograms", also: "StdoutExact BinaryExact", wrap: data(codeinterp.Stdout, replaced("\x00", ""))},
		{name: "colours are stripped", want: "GeneratedPrograms", also: "StdoutExact", wrap: data(codeinterp.Stdout, replaced("\x1b[31m", ""))},
		{name: "other control characters are stripped", want: "GeneratedPrograms", wrap: data(codeinterp.Stdout, replaced("\u0085", ""))},
		{
			name: "a bundle keeps two types", want: "GeneratedPrograms", also: "DisplayBundle",
			wrap: outputs(func(o codeinterp.Output) []codeinterp.Output {
				o.Bundle = o.Bundle[:min(len(o.Bundle), 2)]
				return []codeinterp.Output{o}
			}),
		},
		{
			name: "a bundle keeps four types", want: "GeneratedPrograms",
			wrap: outputs(func(o codeinterp.Output) []codeinterp.Output {
				o.Bundle = o.Bundle[:min(len(o.Bundle), 4)]
				return []codeinterp.Output{o}
			}),
		},
		{
			name: "bundles come as they were made", want: "GeneratedPrograms", also: "DisplayBundle FunctionShows",
			wrap: outputs(func(o codeinterp.Output) []codeinterp.Output {
				o.Bundle = append([]codeinterp.Representation(nil), o.Bundle...)
				for i, j := 0, len(o.Bundle)-1; i < j; i, j = i+1, j-1 {
					o.Bundle[i], o.Bundle[j] = o.Bundle[j], o.Bundle[i]
				}
				return []codeinterp.Output{o}
			}),
		},
		{
			name: "stderr moves behind the display that follows it", want: "GeneratedPrograms", also: "CallbacksSeeAll OutputsWellFormed",
			wrap: results(func(c codeinterp.Call, res *codeinterp.Result) {
				for i := range len(res.Outputs) - 1 {
					if a, b := &res.Outputs[i], &res.Outputs[i+1]; a.Kind == codeinterp.Stderr && b.Kind == codeinterp.Display {
						*a, *b = *b, *a
					}
				}
			}),
		},
		{
			name: "stderr moves to the end", want: "GeneratedPrograms", also: "CallbacksSeeAll StreamsApart",
			wrap: results(func(c codeinterp.Call, res *codeinterp.Result) {
				if len(res.Truncated) > 0 {
					return
				}
				var rest, errs []codeinterp.Output
				for _, o := range res.Outputs {
					if o.Kind == codeinterp.Stderr {
						errs = append(errs, o)
					} else {
						rest = append(rest, o)
					}
				}
				res.Outputs = joined(append(rest, errs...))
			}),
		},
		{
			name: "the value is lost beside other output", want: "GeneratedPrograms", also: "CallbacksSeeAll ValueLast",
			wrap: results(func(c codeinterp.Call, res *codeinterp.Result) {
				if n := len(res.Outputs) - 1; n > 0 && res.Outputs[n].Kind == codeinterp.Value {
					res.Outputs = res.Outputs[:n]
				}
			}),
		},
		{
			name: "exit codes lose their high bit", want: "GeneratedPrograms", also: "ExitCode InterruptDuring InterruptSpin",
			wrap: results(func(c codeinterp.Call, res *codeinterp.Result) {
				if res.Status == codeinterp.StatusError && res.Cause == "" && res.ExitCode > 128 {
					res.ExitCode &= 127
				}
			}),
		},
	}
}
