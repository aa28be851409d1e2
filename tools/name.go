package tools

import (
	"fmt"
	"regexp"
	"sync"
)

const (
	// MaxWorkspaceName is the longest name of a workspace: with it, the
	// longest tool name has 64 characters, the least of what the APIs allow.
	MaxWorkspaceName = 32

	// MaxToolName is how long the names of tools are at most. OpenAI's Chat Completions
	// takes no more.
	MaxToolName = 64
)

var (
	workspaceName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9]+(?:[_-][A-Za-z0-9]+)*$`) })
	toolName      = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_-]*$`) })
)

// CheckWorkspaceName says what is wrong with the name of a workspace: it has
// ASCII letters and digits with single "_" or "-" between them, and at most
// MaxWorkspaceName characters.
func CheckWorkspaceName(name string) error { return checkName("workspace name", name) }

// checkName checks what is called what, and follows the same rules.
func checkName(what, name string) error {
	switch {
	case len(name) > MaxWorkspaceName:
		return fmt.Errorf("%s %q has %d characters, more than %d", what, name, len(name), MaxWorkspaceName)
	case !workspaceName().MatchString(name):
		return fmt.Errorf("%s %q: use ASCII letters and digits, with single _ or - between them", what, name)
	}
	return nil
}

// Prefixed is the default namer: it returns "workspace__<workspace>__<op>".
func Prefixed(workspace, op string) string { return "workspace__" + workspace + "__" + op }

// Unprefixed is a namer that returns op, for consumers that add a prefix of
// their own, such as the hosts of MCP servers.
func Unprefixed(workspace, op string) string { return op }

// CheckToolName says what is wrong with a tool's name for the APIs.
func CheckToolName(name string, longest int) error {
	switch {
	case len(name) > longest:
		return fmt.Errorf("tool name %q has %d characters, more than %d; use a shorter workspace name", name, len(name), longest)
	case !toolName().MatchString(name):
		return fmt.Errorf("tool name %q: use ASCII letters, digits, _ and -, and start with a letter or _", name)
	}
	return nil
}
