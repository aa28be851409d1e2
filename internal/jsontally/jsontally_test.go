package jsontally

import "testing"

func TestMembers(t *testing.T) {
	for text, want := range map[string]int{``: 0, `"a,[{"`: 0, `[{},{}]`: 4, `{"a\\\",":[1,2,"\\\\"],"b":{}}`: 6, `"open`: 0, `"\\`: 0} {
		if got := Members([]byte(text)); got != want {
			t.Errorf("%s: %d, want %d", text, got, want)
		}
	}
}
