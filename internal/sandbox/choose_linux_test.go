package sandbox

import (
	"testing"
	"time"
)

// TestModeTriedNext: a process of a mode that is tried may be looked at while the next
// one is, which only the race detector sees.
func TestModeTriedNext(t *testing.T) {
	s, err := New(&Options{Require: None})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	dir, err := s.TempDir()
	if err != nil {
		t.Fatal(err)
	}
	if _, err = s.Start(&Cmd{Path: "/bin/sleep", Args: []string{"sleep", "60"}, Env: s.Env(dir, nil, nil), Workdir: dir}); err != nil {
		t.Fatal(err)
	}
	for range 20 {
		s.mode = Landlock
		time.Sleep(watchBusy / 4)
	}
	s.mode = None
}
