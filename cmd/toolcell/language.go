package main

import (
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/providers/subprocess"
)

var extensions = map[string]string{
	".py": "python", ".js": "javascript", ".mjs": "javascript", ".cjs": "javascript",
	".jsx": "javascript", ".pyw": "python",
	".ts": "typescript", ".mts": "typescript", ".cts": "typescript", ".tsx": "typescript", ".sh": "bash", ".bash": "bash",
}

// commands are the interpreters that a #! line may name, without a version.
var commands = map[string]string{
	"python": "python", "pypy": "python", "node": "javascript", "nodejs": "javascript",
	"tsx": "typescript", "ts-node": "typescript", "deno": "typescript", "bun": "javascript", "bash": "bash", "sh": "bash", "dash": "bash", "zsh": "bash",
}

// languageOf says what a program is written in, by the name of its file or by
// its #! line. It is empty for a text that came without a name and tells
// nothing; a file that tells nothing is not run as something else.
func languageOf(file, program string) (string, error) {
	if l := extensions[strings.ToLower(filepath.Ext(file))]; l != "" {
		return l, nil
	}
	const choose = "choose with --language, such as bash, javascript, python or typescript"
	if line, ok := strings.CutPrefix(program, "#!"); ok {
		line, _, _ = strings.Cut(line, "\n")
		name := interpreterIn(line)
		// python3.11 and the like.
		if l := commands[strings.TrimRight(name, "0123456789.")]; l != "" {
			return l, nil
		}
		return "", fmt.Errorf("its #! line names %q, which is not a language known here; %s", name, choose)
	}
	if file != "" {
		return "", fmt.Errorf("the name %q does not show the language; %s", filepath.Base(file), choose)
	}
	return "", nil
}

// interpreterIn returns the command of a #! line, behind env and its flags and
// variables.
func interpreterIn(line string) string {
	for i, word := range strings.Fields(line) {
		name := path.Base(word)
		if i == 0 && name != "env" || i > 0 && !strings.HasPrefix(word, "-") && !strings.Contains(word, "=") {
			return name
		}
	}
	return ""
}

// ownLanguages are those of the subprocess provider.
func ownLanguages() []subprocess.Language {
	list := []subprocess.Language{subprocess.Bash(), subprocess.JavaScript(), subprocess.Python(), subprocess.TypeScript()}
	for i, flag := range []string{"", "--node", "--python", "--node"} {
		list[i].Install = strings.ReplaceAll(list[i].Install, "in Language.Commands", "by "+flag)
	}
	return list
}

// ownNames are the names of ownLanguages, which takes a while to put them together.
var ownNames = []string{"bash", "javascript", "python", "typescript"}

// ownLanguage returns the index in ownLanguages of a name, -1 for none.
func ownLanguage(name string) int {
	name, err := codeinterp.ResolveLanguage(name, ownNames)
	if err != nil {
		return -1
	}
	return slices.Index(ownNames, name)
}

// elsewhere names the provider of a language that the embedded engine lacks.
func (f *programFlags) elsewhere() string {
	if f.provider != "inmemory" || ownLanguage(f.language) < 0 {
		return ""
	}
	return "; use --provider subprocess for the interpreters of this machine"
}

// chooseLanguage returns the language of a name, or without a name the first usual one
// that the provider has.
func chooseLanguage(name string, languages []string) (string, error) {
	if name != "" {
		return codeinterp.ResolveLanguage(name, languages)
	}
	for _, name := range []string{"python", "javascript"} {
		if l, err := codeinterp.ResolveLanguage(name, languages); err == nil {
			return l, nil
		}
	}
	if len(languages) == 0 {
		return "", errors.New("the provider has no language")
	}
	return languages[0], nil
}
