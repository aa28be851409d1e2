package plainjson

import "testing"

func TestMarshal(t *testing.T) {
	if got, err := Marshal(map[string]any{"a": "<b> & é\n"}); string(got) != `{"a":"<b> & é\n"}` || err != nil {
		t.Errorf("%s, %v", got, err)
	}
	if got, err := Marshal(func() {}); got != nil || err == nil {
		t.Errorf("%s, %v", got, err)
	}
}
