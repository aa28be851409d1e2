package tools

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

const (
	// maxWorkspaceName is how many bytes the name of a workspace has at most.
	maxWorkspaceName = 256

	// maxToolName is how long the names of tools are at most. OpenAI's Chat Completions
	// takes no more.
	maxToolName = 64

	// maxPart is the longest part of a tool's name that stands for a workspace: with it,
	// the longest tool name has maxToolName characters.
	maxPart = 32
)

var (
	plainName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9]+(?:[_-][A-Za-z0-9]+)*$`) })
	noLetters = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[^A-Za-z0-9]+`) })
	toolName  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_-]*$`) })
)

// CheckWorkspaceName says what is wrong with the name of a workspace, which may be a
// user's id such as alice@example.com: it has 1 to 256 bytes of printable
// UTF-8, without spaces at its ends.
func CheckWorkspaceName(name string) error {
	switch {
	case name == "":
		return fmt.Errorf("workspace name: is empty")
	case len(name) > maxWorkspaceName:
		return fmt.Errorf("workspace name: has %d bytes, more than %d", len(name), maxWorkspaceName)
	case !utf8.ValidString(name) || strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }) || strings.TrimSpace(name) != name:
		return fmt.Errorf("workspace name %q: use printable characters, without spaces at the ends", name)
	}
	return nil
}

// checkName checks the name of an interpreter.
func checkName(name string) error {
	if len(name) > maxPart || !plainName().MatchString(name) {
		return fmt.Errorf("name %q: use at most %d ASCII letters and digits, with single _ or - between them", name, maxPart)
	}
	return nil
}

// WorkspacePart returns what stands for a workspace in the names of its tools: its name,
// if that has at most 32 ASCII letters and digits with single "_" or "-" between them.
// The part for another name has some of its letters, "--" and 16 hexadecimal digits of its
// SHA-256: alice@example.com is alice-example--ff8d9819fc0e12bf. It is always the same,
// and no other name has it.
func WorkspacePart(workspace string) string {
	if len(workspace) <= maxPart && plainName().MatchString(workspace) {
		return workspace
	}
	sum := sha256.Sum256([]byte(workspace))
	end := "--" + hex.EncodeToString(sum[:8])
	letters := strings.Trim(noLetters().ReplaceAllString(workspace, "-"), "-")
	return strings.TrimRight(letters[:min(len(letters), maxPart-len(end))], "-") + end
}

// Prefixed is the default namer: it returns "workspace__<workspace>__<op>", with the
// workspace's [WorkspacePart].
func Prefixed(workspace, op string) string {
	return "workspace__" + WorkspacePart(workspace) + "__" + op
}

// Unprefixed is a namer that returns op, for consumers that add a prefix of
// their own, such as the hosts of MCP servers.
func Unprefixed(workspace, op string) string { return op }

// CheckToolName says what is wrong with a tool's name for the APIs.
func CheckToolName(name string, longest int) error {
	switch {
	case len(name) > longest:
		return fmt.Errorf("tool name %q has %d characters, more than %d", name, len(name), longest)
	case !toolName().MatchString(name):
		return fmt.Errorf("tool name %q: use ASCII letters, digits, _ and -, and start with a letter or _", name)
	}
	return nil
}
