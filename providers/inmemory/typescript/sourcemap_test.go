package typescript

import "testing"

func TestPosition(t *testing.T) {
	code := "interface A { x: number }\n\nenum E { One }\n\nfunction f(a: A): void {\n  throw new Error(String(a.x))\n}\n"
	r := translate("t.ts", code)
	m, err := parseMap(r.Map)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[int]bool{}
	for line := range m.lines {
		row, col := m.position(line+1, 1)
		if row < 1 || row > 8 || col < 1 {
			t.Errorf("line %d comes from %d:%d", line+1, row, col)
		}
		seen[row] = true
	}
	if !seen[3] || !seen[6] || seen[1] {
		t.Errorf("lines %v", seen)
	}
	if row, col := m.position(99, 5); row != 99 || col != 5 {
		t.Errorf("unknown position became %d:%d", row, col)
	}
}

func TestDropped(t *testing.T) {
	for code, want := range map[string]string{
		"NaN": "NaN\n", "x; -5": " -5\n", "x;\n!true // no": "!true // no\n", "1": "", "f()": "", "x = -5": "", "x =\n-5": "", "a ||\nundefined": "", "'a' + 'b'": "'a' + 'b'\n", "// c": "// c\n",
	} {
		if got := dropped("t", code, string(translate("t", code).Code)); got != want {
			t.Errorf("%q: got %q, want %q", code, got, want)
		}
	}
}

func FuzzSourceMap(f *testing.F) {
	f.Add([]byte(`{"mappings":"AAAA,CAAC;;AACA"}`), 1, 1)
	f.Add([]byte(`{"mappings":"gggggggggggg"}`), 2, 9)
	f.Fuzz(func(t *testing.T, doc []byte, line, column int) {
		if m, err := parseMap(doc); err == nil {
			m.position(line, column)
		}
	})
}
