//go:build unix

package subprocess_test

import (
	"strings"
	"testing"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/providers/subprocess"
)

// nodeNamed are imports, and the error of those that ask for what is not there.
var nodeNamed = []struct{ code, module, name string }{
	{"import { readFileSynk } from 'node:fs'", "node:fs", "readFileSynk"},
	{"import { existsSync, readFileSynk as read } from \"fs\"", "fs", "readFileSynk"},
	{"import fs, { // of files\n  existsSync as readFileSynk, /* existing */ stet,\n} from 'node:fs'", "node:fs", "stet"},
	{"import nothing from './named.mjs'", "./named.mjs", "default"},
	{"import nothing, * as all from './named.mjs'", "./named.mjs", "default"},
	{"import { b } from './named.mjs'", "./named.mjs", "b"},
	{"import { b } from './named.cjs'", "./named.cjs", "b"},
	{"import { 'an as, other' as c } from './named.mjs'", "./named.mjs", "an as, other"},
	{"import { nope } from './named.json' with { type: 'json' }", "./named.json", "nope"},
	{"export { b as a } from './named.mjs'", "./named.mjs", "b"},
	{"import { 'a' as one, as } from './named.mjs'; import * as all from './named.mjs'; import {} from './named.mjs'; console.log(one, as, all.b)", "", ""},
	{"import def, { a } from './named.cjs'; import whole from './named.json' with { type: 'json' }; console.log(a, def.b, whole.c)", "", ""},
	{"export { a as default, as } from './named.mjs'; export * from './named.mjs'; export * as named from './named.mjs'; console.log(1)", "", ""},
}

const writeNamed = "{ const { writeFileSync } = require('fs'); writeFileSync('named.mjs', 'export const a = 1, as = 2'); writeFileSync('named.cjs', 'exports.a = 1; Object.assign(exports, { b: 2 })');" +
	"writeFileSync('named.json', '{\"c\": 3}') };"

// TestNodeNamedImports: a static import of what a module does not export is a SyntaxError.
func TestNodeNamedImports(t *testing.T) {
	for _, l := range []subprocess.Language{subprocess.JavaScript(), newerNode(t)} {
		ci := open(t, subprocess.Options{Languages: []subprocess.Language{l}})
		n := newNotebook(t, ci, l.Name)
		n.run(writeNamed, nil)
		for i, tt := range nodeNamed {
			results := []codeinterp.Result{n.run(tt.code+"; console.log('ran')", nil)}
			if i%3 == 0 {
				results = append(results, run(t, ci, l.Name, writeNamed+tt.code+"; console.log('ran')", nil))
			}
			for _, res := range results {
				if tt.name == "" {
					if !res.OK() || !strings.HasSuffix(res.Stdout(), "ran\n") {
						t.Errorf("%s: %s %s", tt.code, summary(res), res.Stderr())
					}
					continue
				}
				want := "error error=SyntaxError: The requested module '" + tt.module + "' does not provide an export named '" + tt.name + "'"
				if summary(res) != want || res.Error.Line != 1 || strings.Contains(strings.Join(res.Error.Traceback, "\n"), "named (") {
					t.Errorf("%s\ngot  %s, line %d %s\nwant %s", tt.code, summary(res), res.Error.Line, res.Error.Traceback, want)
				}
			}
		}
	}
}
