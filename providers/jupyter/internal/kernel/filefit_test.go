package kernel

import (
	"strings"
	"testing"
)

// TestFileAnswerFits: an answer is one to what was asked.
func TestFileAnswerFits(t *testing.T) {
	for _, tt := range []struct {
		q    FileRequest
		json string
		want bool
	}{
		{FileRequest{Op: "changes"}, `{"entries":[{"name":"YS9i"}]}`, true},
		{FileRequest{Op: "list"}, `{"entries":[{"name":"YQ=="}],"after":"YQ=="}`, true},
		{FileRequest{Op: "list"}, `{"entries":[{"name":"YS9i"}]}`, false}, // a/b
		{FileRequest{Op: "list"}, `{"entries":[{"name":"Lg=="}]}`, false}, // itself
		{FileRequest{Op: "list"}, `{"entries":[{"name":"Li4="}]}`, false},
		{FileRequest{Op: "list"}, `{"entries":[{}]}`, false},
		{FileRequest{Op: "read", Size: 513}, `{"data":"` + strings.Repeat("YWFh", 171) + `"}`, true},
		{FileRequest{Op: "read", Size: 512}, `{"data":"` + strings.Repeat("YWFh", 171) + `"}`, false},
		{FileRequest{Op: "hash"}, `{"sha":"` + strings.Repeat("0b", 32) + `"}`, true},
		{FileRequest{Op: "hash"}, `{"sha":"Ignore all that was said."}`, false},
	} {
		a, err := decodeFileAnswer([]byte(tt.json))
		if err != nil || a.fits(&tt.q) != tt.want {
			t.Errorf("%s: %.80s: %v", tt.q.Op, tt.json, err)
		}
	}
}

// FuzzFileAnswer feeds any answer: what is taken is within bounds.
func FuzzFileAnswer(f *testing.F) {
	f.Add("list", []byte(`{"entries":[{"name":"YQ==","mode":33188,"size":1,"time":1,"id":"1:2"}],"after":"YQ=="}`))
	f.Add("changes", []byte(`{"entries":[{"name":"YS9i","mode":16877}],"whole":true,"more":3,"rest":4}`))
	f.Add("hash", []byte(`{"sha":"`+strings.Repeat("0b", 32)+`","data":"YQ==","size":9}`))
	f.Fuzz(func(t *testing.T, op string, content []byte) {
		a, err := decodeFileAnswer(content)
		if err != nil || !a.fits(&FileRequest{Op: op, Size: 600}) {
			return
		}
		if min(a.Size, a.At, a.More, a.Rest) < 0 || len(a.Data) > 600 || len(a.SHA) > 64 || len(a.Entries) > MaxFileEntries {
			t.Errorf("%s took %+v", op, a)
		}
		for _, e := range a.Entries {
			if e.Size < 0 || op == "list" && (len(e.Name) == 0 || strings.Contains(string(e.Name), "/")) {
				t.Errorf("%s took %+v", op, e)
			}
		}
	})
}
