package kernel

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestFileAnswerFits: an answer that a program made up has no more than was asked for, and
// names that lead nowhere else.
func TestFileAnswerFits(t *testing.T) {
	for _, tt := range []struct {
		q    FileRequest
		json string
		want bool
	}{
		{FileRequest{Op: "changes"}, `{"entries":[{"name":"YS9i"}]}`, true},
		{FileRequest{Op: "list"}, `{"entries":[{"name":"YQ=="}],"after":"YQ=="}`, true},
		{FileRequest{Op: "list"}, `{"entries":[{"name":"YS9i"}]}`, false}, // a/b
		{FileRequest{Op: "list"}, `{"entries":[{"name":"Li4="}]}`, false}, // ..
		{FileRequest{Op: "list"}, `{"entries":[{}]}`, false},
		{FileRequest{Op: "read", Size: 513}, `{"data":"` + strings.Repeat("YWFh", 171) + `"}`, true},
		{FileRequest{Op: "read", Size: 512}, `{"data":"` + strings.Repeat("YWFh", 171) + `"}`, false},
		{FileRequest{Op: "changes"}, `{"rest":-1}`, false},
	} {
		var a FileAnswer
		if err := json.Unmarshal([]byte(tt.json), &a); err != nil || a.fits(&tt.q) != tt.want {
			t.Errorf("%s: %.80s: %v", tt.q.Op, tt.json, err)
		}
	}
}
