package subprocess

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/evanw/esbuild/pkg/api"

	"github.com/toolcell/toolcell/codeinterp"
)

// A program is code as the driver gets it.
type program struct {
	code   string
	strip  bool                     // it is TypeScript, for node to strip
	failed *codeinterp.ProgramError // it never got that far
	lines  lineTable                // of generated code
}

// eraseTypes turns TypeScript into JavaScript. What a later program of the
// context may use is kept, imports included, unless they are types by name.
func eraseTypes(code string) *program {
	code, literal := wrapObject(code)
	res := transform(code)
	if literal && len(res.Errors) > 0 {
		res = transform(code[1:len(code)-2] + "\n;")
	}
	if len(res.Errors) > 0 {
		return &program{failed: syntaxError(res.Errors)}
	}
	out := string(res.Code)
	if m := lastConstant.FindStringSubmatch(code); m != nil && !lastConstant.MatchString(out) {
		out += m[1] + ";\n"
	}
	return &program{code: out, lines: parseSourceMap(res.Map)}
}

// lastConstant is a last statement that esbuild leaves out for want of any
// effect, though it is the program's value.
var lastConstant = regexp.MustCompile(`(?:^|[;}\n])\s*(NaN|Infinity|-Infinity)\s*;?\s*$`)

// wrapObject puts what looks like one object literal, which a script takes for
// a block, into parentheses.
func wrapObject(code string) (string, bool) {
	if t := strings.TrimSpace(code); strings.HasPrefix(t, "{") && strings.HasSuffix(t, "}") {
		return "(" + code + "\n)", true
	}
	return code, false
}

func transform(code string) api.TransformResult {
	return api.Transform(code, api.TransformOptions{
		Loader: api.LoaderTS, Target: api.ESNext, LogLevel: api.LogLevelSilent, TreeShaking: api.TreeShakingFalse,
		Sourcemap: api.SourceMapExternal, Sourcefile: "cell",
		TsconfigRaw: `{"compilerOptions":{"verbatimModuleSyntax":true,"experimentalDecorators":true}}`,
	})
}

func syntaxError(list []api.Message) *codeinterp.ProgramError {
	e := &codeinterp.ProgramError{Name: "SyntaxError", Message: list[0].Text}
	for _, m := range list {
		if m.Location == nil {
			e.Traceback = append(e.Traceback, "SyntaxError: "+m.Text)
			continue
		}
		if e.Line == 0 {
			e.Line = m.Location.Line
		}
		e.Traceback = append(e.Traceback, fmt.Sprintf("cell:%d:%d", m.Location.Line, m.Location.Column+1),
			m.Location.LineText, strings.Repeat(" ", m.Location.Column)+"^", "SyntaxError: "+m.Text)
	}
	return e
}

var (
	ansi     = regexp.MustCompile("\x1b(\\[[0-?]*[ -/]*[@-~]|\\][^\x07\x1b]*(\x07|\x1b\\\\)?|[@-Z\\\\^_])")
	position = regexp.MustCompile(`(\bcell-\d+:)(\d+)(?::(\d+))?`)
)

// locate completes an error of the driver's: positions in generated code
// become those of the original, and ANSI sequences go to RawTraceback.
func (p *program) locate(e *codeinterp.ProgramError) *codeinterp.ProgramError {
	if p.failed != nil {
		return p.failed
	}
	if e == nil {
		return nil
	}
	if p.lines != nil {
		e.Line, _ = p.lines.original(e.Line, 1)
		for i, line := range e.Traceback {
			e.Traceback[i] = position.ReplaceAllStringFunc(line, p.relocate)
		}
	}
	raw := e.Traceback
	for i, line := range raw {
		if strings.ContainsRune(line, '\x1b') {
			if e.RawTraceback == nil {
				e.RawTraceback, e.Traceback = raw, append([]string(nil), raw...)
			}
			e.Traceback[i] = strings.ReplaceAll(ansi.ReplaceAllString(line, ""), "\x1b", "")
		}
	}
	return e
}

func (p *program) relocate(at string) string {
	m := position.FindStringSubmatch(at)
	line, _ := strconv.Atoi(m[2])
	column, _ := strconv.Atoi(m[3])
	line, column = p.lines.original(line, column)
	if m[3] == "" {
		return m[1] + strconv.Itoa(line)
	}
	return m[1] + strconv.Itoa(line) + ":" + strconv.Itoa(column)
}
