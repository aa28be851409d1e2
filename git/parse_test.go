package git

import (
	"reflect"
	"testing"
)

const statusSample = "# branch.oid 1234\x00# branch.head main\x00# branch.upstream origin/main\x00# branch.ab +2 -1\x00" +
	"1 M. N... 100644 100644 100644 a b a file with spaces\x00" +
	"2 R. N... 100644 100644 100644 a b R100 new\nname\x00old\x00" +
	"u UU N... 100644 100644 100644 100644 a b c both\x00? new file\x00! ignored\x00"

// Status reads what git writes, whatever names files have.
func TestParseStatus(t *testing.T) {
	got, err := parseStatus(statusSample)
	want := &Status{Branch: "main", Commit: "1234", Upstream: "origin/main", Ahead: 2, Behind: 1, Files: []File{
		{Path: "a file with spaces", Index: "M", Worktree: "."}, {Path: "new\nname", From: "old", Index: "R", Worktree: "."},
		{Path: "both", Index: "U", Worktree: "U"}, {Path: "new file", Index: "?", Worktree: "?"},
	}}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v", got, err)
	}
}

// FuzzParse: no output of git makes the parsers fail.
func FuzzParse(f *testing.F) {
	f.Add(statusSample)
	f.Add("h\x01a\x01e\x012026-01-02T03:04:05Z\x01s\x01b\n\x00")
	f.Fuzz(func(t *testing.T, out string) {
		if s, err := parseStatus(out); err == nil && len(s.Files) > len(out) {
			t.Error("more files than bytes")
		}
		_, _ = parseLog(out)
	})
}
