package mcptools_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/toolcell/toolcell/tools/codemode/mcptools"
)

func lookup(name string) (string, bool) {
	v, ok := map[string]string{"TOKEN": "abc def 123", "EMPTY": ""}[name]
	return v, ok
}

func TestParse(t *testing.T) {
	list, err := mcptools.Parse([]byte(`{"mcpServers": {
		"z": {"command": "npx", "args": ["-y", "${TOKEN}", "${EMPTY:-x}", "$HOME"], "env": {"API_KEY": "${TOKEN}", "LEVEL": "debugging"}, "cwd": "/tmp", "autoApprove": []},
		"a": {"type": "http", "url": "https://x/${EMPTY}", "headers": {"Authorization": "Bearer ${TOKEN}"},
			"tools": {"rm": {"use": "none", "reason": "no"}, "d": {"use": "direct"}, "b": {"use": "both"}}},
		"off": {"command": "x", "disabled": true}}}`), lookup)
	if err != nil {
		t.Fatal(err)
	}
	want := []mcptools.Server{
		{Name: "a", URL: "https://x/", Headers: map[string]string{"Authorization": "Bearer abc def 123"}, Env: map[string]string{}, Args: []string{},
			Rules: map[string]mcptools.Rule{"rm": {Hidden: true, Reason: "no"}, "d": {Direct: true, Hidden: true}, "b": {Direct: true}}},
		{Name: "z", Command: "npx", Args: []string{"-y", "abc def 123", "x", "$HOME"}, Env: map[string]string{"API_KEY": "abc def 123", "LEVEL": "debugging"},
			Dir: "/tmp", Headers: map[string]string{}, Rules: map[string]mcptools.Rule{}},
	}
	if !reflect.DeepEqual(list, want) {
		t.Errorf("%+v", list)
	}
	if got := strings.Join(mcptools.Credentials(list), ","); got != "Bearer abc def 123,abc def 123,abc def 123" {
		t.Error(got)
	}
	for config, want := range map[string]string{
		`{"servers": {"a": {}}}`:                                                    "either a command or a url",
		`{"mcpServers": {"a": {"command": "x", "url": "y"}}}`:                       "either a command or a url",
		`{"mcpServers": {"a": {"command": "${NO}"}}}`:                               "no variable NO",
		`{"mcpServers": {"a": {"command": "x", "type": "pigeon"}}}`:                 "pigeon",
		`{"mcpServers": {"a": {"command": "x", "tools": {"t": {"use": "never"}}}}}`: "never",
		`{}`: "no server", `[`: "JSON",
	} {
		if _, err := mcptools.Parse([]byte(config), lookup); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", config, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(`{"mcpServers": {"a": {"command": "${TOKEN}", "args": ["${EMPTY:-${x}"], "tools": {"": {"use": "both"}}}}}`)
	f.Add(`{"servers":{"":{"url":"http://x","headers":{"a":"${"}}}}`)
	f.Fuzz(func(t *testing.T, config string) {
		list, err := mcptools.Parse([]byte(config), lookup)
		if err == nil && !json.Valid([]byte(config)) {
			t.Fatal("no JSON, and no error")
		}
		for _, s := range list {
			if err == nil && (s.Command == "") == (s.URL == "") {
				t.Fatalf("%+v", s)
			}
		}
	})
}
