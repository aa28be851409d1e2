package inmemory_test

import (
	"testing"

	"github.com/toolcell/toolcell/internal/completetest"
	"github.com/toolcell/toolcell/providers/inmemory"
)

// TestComplete: what is there, without calling any of it.
func TestComplete(t *testing.T) {
	ci, err := inmemory.NewStateful(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer ci.Close()
	for _, language := range ci.Languages() {
		t.Run(language, func(t *testing.T) { completetest.JavaScript(t, ci, language) })
	}
}
