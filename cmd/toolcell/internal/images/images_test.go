package images

import "testing"

// TestProtocol: terminals that show pictures are recognized.
func TestProtocol(t *testing.T) {
	for _, tt := range []struct {
		env  map[string]string
		want string
	}{
		{map[string]string{"TERM": "xterm-256color"}, ""},
		{map[string]string{"TERM": "xterm-kitty"}, "kitty"},
		{map[string]string{"KITTY_WINDOW_ID": "1"}, "kitty"},
		{map[string]string{"KITTY_WINDOW_ID": "1", "TMUX": "x"}, ""},
		{map[string]string{"TERM_PROGRAM": "iTerm.app"}, "iterm2"},
		{map[string]string{"TERM_PROGRAM": "WezTerm"}, "iterm2"},
		{map[string]string{"TERM": "foot"}, ""},
	} {
		if got := Protocol(func(k string) string { return tt.env[k] }); got != tt.want {
			t.Errorf("%v: %q, want %q", tt.env, got, tt.want)
		}
	}
}
