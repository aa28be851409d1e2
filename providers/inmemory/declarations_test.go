package inmemory_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestFaultsBesideDeclarations: a syntax error has its place, whatever the
// program imports and exports, as without that.
func TestFaultsBesideDeclarations(t *testing.T) {
	s := open(t, both())
	const long = `import { readFileSync as read } from "fs"; `
	for _, tt := range []struct{ code, message, at string }{
		{"import fs from 'fs'\nconst x = ;", "unexpected token in expression: ';'", "2:11"},
		{long + "const x = ;", "unexpected token in expression: ';'", "1:54"},
		{"export default { a: 1 b: 2 }", "expecting '}'", "1:23"},
		{"import fs from 'fs'\nconst a = 1\nconst a = 2", "invalid redefinition of global identifier", "3:9"},
		{"import fs from 'fs'\nif (fs) {\n  return 1\n}", "return not in a function", "3:3"},
		{"import fs form 'fs'\nlet a = 1", "from clause expected", "1:11"},
		{"if (1) {\n  import fs from 'fs'\n}", "expecting '('", "2:10"},
	} {
		line, _ := strconv.Atoi(tt.at[:1])
		for _, language := range []string{"javascript", "typescript"} {
			res, err := s.RunCode(t.Context(), language, tt.code, nil)
			if err != nil || res.Error == nil {
				t.Errorf("%s: %v, no error", tt.code, err)
				continue
			}
			e := res.Error
			if e.Name != "SyntaxError" || e.Line != line {
				t.Errorf("%s, %s: %v at %d, want %d", language, tt.code, e, e.Line, line)
			}
			// What TypeScript's parser finds itself has its own words.
			if language == "javascript" && (e.Message != tt.message || !slices.Contains(e.Traceback, "    at program.js:"+tt.at)) {
				t.Errorf("%s: got\n%s", tt.code, strings.Join(e.Traceback, "\n"))
			}
		}
	}
}
