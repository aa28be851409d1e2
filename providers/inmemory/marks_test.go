package inmemory_test

import (
	"fmt"
	"testing"
)

// marked makes the engine mark the loops of a program.
const marked = "for (let i = 0; i < 3; i++) { const g = () => i; if (i == 1) continue; }\n"

// A program may have any numbers where it has loops that the engine marks: contract row 20.
func TestNumbersLikeMarks(t *testing.T) {
	t.Parallel()
	s := open(t, nil)
	const call = "var h = (...a) => a.join(); function f(p) { return h(70e-302, p, 71e-302, p, 0.71e-300, p, 7.10e-301) }\n"
	const want = "7e-301,1,7.1e-301,1,7.1e-301,1,7.1e-301\n"
	for name, code := range map[string]string{
		"program":      marked + call + "console.log(f(1))",
		"one number":   marked + "var f = p => { let x = 71e-302; return x }; console.log('7e-301,1,' + [f(), 1, f(), 1, f()])",
		"eval":         fmt.Sprintf("console.log(eval(%q))", marked+call+"f(1)"),
		"new Function": fmt.Sprintf("console.log(new Function(%q)())", marked+call+"return f(1)"),
		"module": fmt.Sprintf(`const fs = require("fs"); fs.writeFileSync("/m.mjs", %q); console.log((await import("/m.mjs")).v())`,
			"import { sep } from 'path'; import * as self from '/m.mjs';\n"+marked+call+"export const v = () => sep && self.f(1); export { f }"),
		"two numbers": marked + call + "let y = [73e-302, 75e-302]; console.log(f(1))",
		"statement": marked + "var a = 1, h; for (let i = 0; i < 2; !71e-302,!a,!71e-302,i++) { h = () => i; if (i == 1) continue; }\n" +
			"console.log('7e-301,1,7.1e-301,1,7.1e-301,1,' + 7.10e-301)",
	} {
		res, err := s.RunCode(t.Context(), "javascript", code, nil)
		if err != nil || !res.OK() || res.Stdout() != want {
			t.Errorf("%s: %v, %v: %s", name, err, res.Error, res.Stdout())
		}
	}
}
