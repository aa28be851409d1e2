package typescript

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/evanw/esbuild/pkg/api"
)

// FuzzErase checks what holds for every source: the bounds, the lines, that
// positions come from within the source, and that a translation has no types
// left to erase.
func FuzzErase(f *testing.F) {
	for _, tt := range erased {
		f.Add(tt.in)
	}
	for _, tt := range generated {
		f.Add(tt)
	}
	f.Fuzz(func(t *testing.T, source string) {
		var p *parser
		pr, err := translate(context.Background(), source, func(made *parser) { p = made }, func(*parser) {})
		if limit := stepsPerByte*len(source) + moreSteps + len(source)/64 + checkEvery + 1; p.steps > limit {
			t.Errorf("%d steps for %d bytes", p.steps, len(source))
		}
		if int64(p.memory) > Memory(len(source)) && (err == nil || !strings.Contains(err.Error(), "too large")) {
			t.Errorf("%d bytes for %d", p.memory, len(source))
		}
		if pr, _ := Replace(context.Background(), source, Words{"__impt", "__th"}, Memory(len(source))); pr != nil && len(pr.Code) != len(source) {
			t.Errorf("%d bytes became %d", len(source), len(pr.Code))
		}
		if err != nil {
			var e *SyntaxError
			if !errors.As(err, &e) || e.Line < 1 || e.Column < 1 || e.Line > 1+strings.Count(source, "\n") {
				t.Errorf("error %#v", err)
			} else {
				e.ProgramError("f", source)
			}
			return
		}
		if n := strings.Count(pr.Code, "\n") - strings.Count(source, "\n"); n != 0 {
			t.Errorf("%q became %q", source, pr.Code)
		}
		for line := range strings.Count(pr.Code, "\n") + 1 {
			for _, column := range []int{1, 7, 70} {
				if l, c := pr.Position(line+1, column); l < 1 || c < 1 {
					t.Errorf("%d:%d became %d:%d", line+1, column, l, c)
				}
			}
		}
	})
}

func esbuild(code string, loader api.Loader) api.TransformResult {
	return api.Transform(code, api.TransformOptions{
		Loader: loader, Target: api.ESNext, LogLevel: api.LogLevelSilent, Charset: api.CharsetUTF8,
		TreeShaking: api.TreeShakingFalse, MinifyWhitespace: true, LegalComments: api.LegalCommentsNone,
		TsconfigRaw: `{"compilerOptions": {"verbatimModuleSyntax": true, "useDefineForClassFields": true}}`,
	})
}
