package main

import "testing"

func TestNearest(t *testing.T) {
	list := []string{"run", "repl", "provider", "preload"}
	for word, want := range map[string]string{"": "", "x": "", "rnu": "run", "runn": "run", "provder": "provider", "porvider": "provider", "prelaod": "preload", "profile": "", "é": ""} {
		if got := nearest(word, list); got != want {
			t.Errorf("%q: %q, want %q", word, got, want)
		}
	}
}
