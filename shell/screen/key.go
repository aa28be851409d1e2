package screen

import (
	"slices"
	"strconv"
	"strings"
)

// keys are what keys with names send; shell.Keys lists them.
var keys = map[string]string{
	"enter": "\r", "tab": "\t", "esc": "\x1b", "space": " ", "backspace": "\x7f", "shift-tab": "\x1b[Z",
	"insert": "\x1b[2~", "delete": "\x1b[3~", "page-up": "\x1b[5~", "page-down": "\x1b[6~",
	"f1": "\x1bOP", "f2": "\x1bOQ", "f3": "\x1bOR", "f4": "\x1bOS",
}

// cursorKeys are those that a program can switch to another mode.
var cursorKeys = map[string]byte{"up": 'A', "down": 'B', "right": 'C', "left": 'D', "end": 'F', "home": 'H'}

// functionKeys are the numbers of f5 and so on.
var functionKeys = []int{15, 17, 18, 19, 20, 21, 23, 24}

// Key implements shell.Emulator.
func (s *Screen) Key(name string) (string, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return key(name, s.cursor)
}

func key(name string, application bool) (string, bool) {
	if rest, ok := strings.CutPrefix(name, "alt-"); ok {
		sent, ok := key(rest, application)
		if len(rest) == 1 {
			sent, ok = rest, true
		}
		return "\x1b" + sent, ok
	}
	if rest, ok := strings.CutPrefix(name, "ctrl-"); ok {
		return control(rest)
	}
	if c, ok := cursorKeys[name]; ok {
		if application {
			return "\x1bO" + string(c), true
		}
		return "\x1b[" + string(c), true
	}
	if n, err := strconv.Atoi(strings.TrimPrefix(name, "f")); err == nil && name[0] == 'f' && n >= 5 && n < 5+len(functionKeys) {
		return "\x1b[" + strconv.Itoa(functionKeys[n-5]) + "~", true
	}
	sent, ok := keys[name]
	return sent, ok
}

// control returns what a key sends together with Ctrl.
func control(name string) (string, bool) {
	if c, ok := cursorKeys[name]; ok {
		return "\x1b[1;5" + string(c), true
	}
	if name == "space" {
		return "\x00", true
	}
	if len(name) == 1 && slices.Contains([]byte("@[\\]^_"), name[0]) || len(name) == 1 && name[0] >= 'a' && name[0] <= 'z' {
		return string(name[0] & 0x1f), true
	}
	return "", false
}
