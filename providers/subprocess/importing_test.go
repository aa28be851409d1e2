//go:build unix

package subprocess_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/providers/subprocess"
)

// TestNodeImports: what an import fails with says what is wrong and where, in the
// module and in the program, and has no frame of node's loader.
func TestNodeImports(t *testing.T) {
	t.Run("node", func(t *testing.T) { testNodeImports(t, subprocess.JavaScript()) })
	t.Run("newer node", func(t *testing.T) { testNodeImports(t, newerNode(t)) })
}

func testNodeImports(t *testing.T, l subprocess.Language) {
	t.Parallel()
	n := newNotebook(t, open(t, subprocess.Options{Languages: []subprocess.Language{l}}), l.Name)
	n.run(`const fs = require('fs');
fs.writeFileSync('bad.mjs', "import { readFileSync } from 'fs'\nexport const u = import.meta.url;\n  let x = ;\n");
fs.writeFileSync('open.mjs', "export default function () {\n");
fs.writeFileSync('mid.mjs', "export {\n  u } from './bad.mjs';\n");
fs.writeFileSync('lost.mjs', "import './nope.mjs'\n");
fs.writeFileSync('throws.mjs', "\nthrow new RangeError('of the module')\n");
fs.writeFileSync('bad.cjs', "let x = ;\n")`, nil)
	for _, tt := range []struct{ code, want string }{
		{"\nimport def from './nope.mjs'", `^Error \[ERR_MODULE_NOT_FOUND\]: Cannot find module '/\S+/nope.mjs'\n    at cell-\d+:2:\d+$`},
		{"import './lost.mjs'", `Cannot find module '/\S+/nope.mjs' imported from /\S+/lost.mjs\n    at cell-\d+:1:\d+$`},
		{"\nawait import('./bad.mjs')", `^SyntaxError: Unexpected token ';'\n    at file:///\S+/bad.mjs:3:11\n    at cell-\d+:2:\d+$`},
		{"import { u } from './mid.mjs'", `^SyntaxError: Unexpected token ';'\n    at file:///\S+/bad.mjs:3:11\n    at cell-\d+:1:\d+$`},
		{"import './open.mjs'", `^SyntaxError: Unexpected end of input\n    at file:///\S+/open.mjs:2:1\n    at cell-\d+:1:\d+$`},
		{"import './throws.mjs'", `^RangeError: of the module\n    at file:///\S+/throws.mjs:2:7\n`},
		{"\nrequire('./bad.cjs')", `^/\S+/bad.cjs:1\nlet x = ;\n +\^\n\nSyntaxError: Unexpected token ';'\n    at cell-\d+:2:1$`},
		{"function evaluate() { null.x }\nevaluate()", `\n    at evaluate \(cell-\d+:1:28\)\n    at cell-\d+:2:1$`},
		{"throw new Error('[eval] is in it')", `^Error: \[eval\] is in it\n`},
	} {
		res := n.run(tt.code, nil)
		if res.Error == nil || !regexp.MustCompile(tt.want).MatchString(strings.Join(res.Error.Traceback, "\n")) || strings.Contains(res.Error.Message, "[eval] imp") {
			t.Errorf("%s: %+v", tt.code, res.Error)
		}
	}
	for code, want := range map[string]string{
		"import('nope').catch((e) => e.message)":                                                   "Cannot find package 'nope'",
		"import('./nope.mjs').catch((e) => e.stack.split('\\n').length)":                           "2",
		"fs.writeFileSync('throws.mjs', 'export const x = 5'); (await import('./throws.mjs?2')).x": "5",
		"const own = import.meta; own.url === 'file://' + process.cwd() + '/cell.js'":              "true",
		"import.meta.resolve('./x.mjs') === new URL('x.mjs', import.meta.url).href":                "true",
	} {
		if res := n.run(code, nil); res.Status != codeinterp.StatusOK || res.Text() != want {
			t.Errorf("%s: %s", code, summary(res))
		}
	}
}
