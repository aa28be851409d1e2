package main

import (
	"context"
	"errors"
	"flag"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	openai := map[string]string{"OPENAI_API_KEY": "k", "OPENAI_MODEL": "m"}
	anthropic := map[string]string{"ANTHROPIC_API_KEY": "k", "ANTHROPIC_MODEL": "m"}
	local := map[string]string{"OPENAI_BASE_URL": "http://localhost:11434/v1/", "OPENAI_MODEL": "m"}
	for _, tt := range []struct {
		name       string
		args       []string
		env        map[string]string
		api, url   string
		scripted   bool
		key, fails string
	}{
		{"nothing", nil, nil, "openai", "https://api.openai.com/v1/chat/completions", true, "none", ""},
		{"openai", nil, openai, "openai", "https://api.openai.com/v1/chat/completions", false, "k", ""},
		{"anthropic", nil, anthropic, "anthropic", "https://api.anthropic.com/v1/messages", false, "k", ""},
		{"anthropic without a key", []string{"-api", "anthropic"}, openai, "anthropic", "https://api.anthropic.com/v1/messages", true, "none", ""},
		{"a server of one's own", nil, local, "openai", "http://localhost:11434/v1/chat/completions", false, "", ""},
		{"flags come first", []string{"-key", "x", "-url", "http://u"}, local, "openai", "http://u/chat/completions", false, "x", ""},
		{"no model", nil, map[string]string{"OPENAI_API_KEY": "k"}, "", "", false, "", "OPENAI_MODEL"},
		{"unknown api", []string{"-api", "x"}, nil, "", "", false, "", "use openai or anthropic"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, err := parse(append(tt.args, "make", "tea"), func(k string) string { return tt.env[k] })
			if tt.fails != "" {
				if err == nil || !strings.Contains(err.Error(), tt.fails) {
					t.Errorf("error %v, want %q", err, tt.fails)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			m, err := c.conversation(nil, func(string) {})
			if err != nil {
				t.Fatal(err)
			}
			var e endpoint
			switch m := m.(type) {
			case *chat:
				e = m.endpoint
			case *messages:
				e = m.endpoint
			}
			key := strings.TrimPrefix(e.header.Get("Authorization"), "Bearer ") + e.header.Get("X-Api-Key")
			if c.api != tt.api || e.url != tt.url || c.scripted != tt.scripted || key != tt.key || c.task != "make tea" {
				t.Errorf("api %s at %s with key %q, scripted %v, task %q", c.api, e.url, key, c.scripted, c.task)
			}
		})
	}
}

func TestProviders(t *testing.T) {
	none := func(string) string { return "" }
	for provider, want := range map[string]string{"jupyter": "JUPYTER_URL", "moon": "use inmemory"} {
		if err := run(t.Context(), []string{"-provider", provider}, none, nil, &strings.Builder{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %q", provider, err, want)
		}
	}
	if err := run(context.Background(), []string{"-h"}, none, nil, &strings.Builder{}); !errors.Is(err, flag.ErrHelp) {
		t.Errorf("error %v for -h", err)
	}
}
