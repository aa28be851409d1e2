package artifact_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/artifact"
)

// TestBounds: a program chooses neither how many files a Result lists nor how much
// memory their paths take, and what is not listed is counted.
func TestBounds(t *testing.T) {
	for _, tt := range []struct{ files, length, listed int }{
		{10, 100, 10},
		{codeinterp.MaxArtifacts + 5, 10, codeinterp.MaxArtifacts},
		{100, 30_000, codeinterp.MaxArtifactPaths / 30_000},
	} {
		var l artifact.List
		for i := range tt.files {
			l.AddHashed(fmt.Sprintf("%04d%s", i, strings.Repeat("d/", tt.length/2-2)), 3, "sum", nil)
		}
		list, lost := l.Done()
		left := 0
		for _, tr := range lost {
			left += tr.Files
			if tr.Bytes != int64(3*tt.files) || tr.Kept != int64(3*tt.listed) {
				t.Errorf("%+v: %+v", tt, tr)
			}
		}
		if len(list) != tt.listed || left != tt.files-tt.listed {
			t.Errorf("%+v: %d listed, %d left out", tt, len(list), left)
		}
	}
}
