//go:build !(386 || arm || s390x)

package quickjs

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
)

func FuzzJSONScan(f *testing.F) {
	for _, s := range []string{"", " ", "1", "-", "-0", "01", "[01]", "1.", "1.5e", "1e+", "1E-07", "[1,]", "[", "[1", "{", `{"a"`, `{"a":`, `{"a":1`, `{"a":1,`, `{"a":1,}`,
		`{,}`, `{"a" 1}`, `{"a":1 "b"}`, `[1 2]`, `1 2`, `"`, `"\`, `"\u12`, `"\u12G4"`, `"\x"`, "\"\x01\"", `"ä😀"`, "tru", "true", "truth", "nul", "null", "false ", "ä", "{]", "[}",
		`[{"a":[null,true,false,-1.5e3,"\n\u00e4"]},{}]`, "[[[[]]]]", "\ufeff1", "[1e]", "{1:2}", "[-]", "[.5]", "+1"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var v json.RawMessage
		var fault *json.SyntaxError
		err := json.Unmarshal([]byte(text), &v)
		faulty := errors.As(err, &fault)
		if faulty && fault.Error() == "exceeded max depth" {
			return
		}
		var s jsonScan
		at := s.scan([]byte(text))
		ended := at == len(text)
		if ok := ended && s.ends(); ok == faulty {
			t.Fatalf("%q: valid %v, %v", text, ok, err)
		}
		if !faulty {
			return
		}
		if want := fault.Error() == "unexpected end of JSON input" || strings.HasPrefix(fault.Error(), "invalid character ' '") && int(fault.Offset) == len(text); ended != want && ended {
			t.Errorf("%q: ended at %d: %v", text, at, err)
		}
		if !ended && at != int(fault.Offset)-1 {
			t.Errorf("%q: at %d, want %d: %v", text, at, fault.Offset-1, err)
		}
	})
}
