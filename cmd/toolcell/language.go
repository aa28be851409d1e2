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

// extensions are further ones than Language.Extension.
var extensions = map[string]string{
	".pyw": "python", ".mjs": "javascript", ".cjs": "javascript", ".jsx": "javascript",
	".mts": "typescript", ".cts": "typescript", ".tsx": "typescript", ".bash": "bash",
}

// commands are further interpreters that a #! line may name than Language.Commands.
var commands = map[string]string{
	"pypy": "python", "tsx": "typescript", "ts-node": "typescript", "deno": "typescript", "bun": "javascript",
	"sh": "bash", "dash": "bash", "zsh": "bash",
}

// languageOf says what a program is written in, by the name of its file or by
// its #! line. It is empty for a text that came without a name and tells
// nothing; a file that tells nothing is not run as something else.
func languageOf(file, program string) (string, error) {
	extension := strings.ToLower(filepath.Ext(file))
	if l := extensions[extension]; l != "" {
		return l, nil
	}
	own := ownLanguages()
	if n := slices.IndexFunc(own, func(l subprocess.Language) bool { return l.Extension == extension && extension != "" }); n >= 0 {
		return own[n].Name, nil
	}
	const choose = "choose with --language, such as bash, javascript, python or typescript"
	if line, ok := strings.CutPrefix(program, "#!"); ok {
		line, _, _ = strings.Cut(line, "\n")
		name := interpreterIn(line)
		command := strings.TrimRight(name, "0123456789.") // python3.11 and the like
		if l := commands[command]; l != "" {
			return l, nil
		}
		if n := slices.IndexFunc(own, func(l subprocess.Language) bool { return slices.Contains(l.Commands, command) }); n >= 0 {
			return own[n].Name, nil
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
	list := subprocess.Languages()
	for i, l := range list {
		flag := "--node"
		if l.Name == "python" {
			flag = "--python"
		}
		list[i].Install = strings.ReplaceAll(l.Install, "in Language.Commands", "by "+flag)
	}
	return list
}

// ownLanguage returns that of ownLanguages with a name, as a list; nil if there is none.
func ownLanguage(name string) []subprocess.Language {
	for _, l := range ownLanguages() {
		if _, err := codeinterp.ResolveLanguage(name, append([]string{l.Name}, l.Aliases...)); err == nil {
			return []subprocess.Language{l}
		}
	}
	return nil
}

// is reports whether a name that a user gave means one of languages.
func is(name string, languages ...string) bool {
	_, err := codeinterp.ResolveLanguage(name, languages)
	return err == nil
}

// elsewhere names the provider of a language that the embedded engine lacks.
func (f *programFlags) elsewhere() string {
	if f.provider != "inmemory" || ownLanguage(f.language) == nil {
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
