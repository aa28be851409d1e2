package main

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// shells are those that completion is for.
var shells = []string{"bash", "zsh", "fish"}

// completion prints a shell's completion, made from the commands' flags.
func (a *app) completion(_ context.Context, args []string) int {
	if len(args) == 1 {
		var b strings.Builder
		switch args[0] {
		case "bash":
			bashCompletion(&b)
		case "zsh":
			zshCompletion(&b)
		case "fish":
			fishCompletion(&b)
		case "-h", "-help", "--help":
			b.WriteString(completionHelp)
		}
		if b.Len() > 0 {
			return a.print(b.String())
		}
	}
	return a.usageError("use toolcell completion bash, zsh or fish")
}

const completionHelp = `usage: toolcell completion (bash | zsh | fish)

  bash:  source <(toolcell completion bash)
  zsh:   source <(toolcell completion zsh), after compinit
  fish:  toolcell completion fish | source
`

// print prints text on standard output.
func (a *app) print(text string) int {
	if _, err := io.WriteString(a.stdout, text); err != nil {
		return a.fail(err)
	}
	return 0
}

func bashCompletion(b *strings.Builder) {
	b.WriteString("# source <(toolcell completion bash)\n_toolcell() {\n\tlocal cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} words= files=\n\tCOMPREPLY=()\n\tif ((COMP_CWORD == 1)); then\n")
	fmt.Fprintf(b, "\t\twords=%q\n\telse\n\t\tcase ${COMP_WORDS[1]}:$prev in\n", strings.Join(names(), " "))
	fmt.Fprintf(b, "\t\tenv:lock | env:remove) words=$(%s) ;;\n", askNames)
	for _, c := range subcommands() {
		for _, f := range flagsOf(c) {
			if values, files, takes := valuesOf(f); takes {
				words := strconv.Quote(strings.Join(values, " "))
				if ask := namesOf(f); ask != "" {
					words = "$(" + ask + ")"
				}
				fmt.Fprintf(b, "\t\t%s:%s) words=%s", c.name, dashed(f), words)
				if files {
					b.WriteString(" files=1")
				}
				b.WriteString(" ;;\n")
			}
		}
		var flags []string
		for _, f := range flagsOf(c) {
			flags = append(flags, dashed(f))
		}
		fmt.Fprintf(b, "\t\t%s:*)\n\t\t\tif [[ $cur == -* ]]; then words=%q", c.name, strings.Join(append(flags, "--help"), " "))
		fmt.Fprintf(b, "; else words=%q", strings.Join(c.words, " "))
		if c.files {
			b.WriteString(" files=1")
		}
		b.WriteString("; fi ;;\n")
	}
	b.WriteString("\t\tesac\n\tfi\n\tlocal IFS=$'\\n'\n\tCOMPREPLY=($(compgen -W \"${words// /$'\\n'}\" -- \"$cur\"))\n\tif [[ $files ]]; then\n\t\tcompopt -o filenames 2>/dev/null\n\t\tCOMPREPLY+=($(compgen -f -- \"$cur\"))\n\tfi\n}\ncomplete -F _toolcell toolcell\n")
}

func zshCompletion(b *strings.Builder) {
	b.WriteString("#compdef toolcell\n_toolcell() {\n\tlocal -a commands\n\tcommands=(\n")
	for _, c := range subcommands() {
		fmt.Fprintf(b, "\t\t%s\n", quoted(c.name+":"+strings.ReplaceAll(c.does, ":", `\:`)))
	}
	b.WriteString("\t)\n\tif ((CURRENT == 2)); then\n\t\t_describe command commands\n\t\treturn\n\tfi\n\tlocal command=$words[2]\n\tshift words\n\t((CURRENT--))\n\tcase $command in\n")
	for _, c := range subcommands() {
		fmt.Fprintf(b, "\t%s)\n\t\t_arguments", c.name)
		for _, f := range flagsOf(c) {
			_, says := unquoted(f)
			spec := "*" + dashed(f) + "[" + strings.NewReplacer("[", `\[`, "]", `\]`).Replace(says) + "]"
			if values, files, takes := valuesOf(f); namesOf(f) != "" {
				spec += ":value:{compadd -- $(" + namesOf(f) + ")}"
			} else if takes && files {
				spec += ":value:_files"
			} else if takes {
				spec += ":value:(" + strings.Join(values, " ") + ")"
			}
			fmt.Fprintf(b, " \\\n\t\t\t%s", quoted(spec))
		}
		switch {
		case c.files:
			b.WriteString(" \\\n\t\t\t'*:file:_files'")
		case len(c.words) > 0:
			fmt.Fprintf(b, " \\\n\t\t\t%s", quoted("1:what:("+strings.Join(c.words, " ")+")"))
			if c.name == "env" {
				fmt.Fprintf(b, " \\\n\t\t\t%s", quoted("2:name:{compadd -- $("+askNames+")}"))
			}
		}
		b.WriteString("\n\t\t;;\n")
	}
	b.WriteString("\tesac\n}\ncompdef _toolcell toolcell\n")
}

func fishCompletion(b *strings.Builder) {
	b.WriteString("# toolcell completion fish | source\ncomplete -c toolcell -f\n")
	for _, c := range subcommands() {
		fmt.Fprintf(b, "complete -c toolcell -n __fish_use_subcommand -a %s -d %s\n", c.name, fishQuoted(c.does))
	}
	for _, c := range subcommands() {
		seen := "complete -c toolcell -n '__fish_seen_subcommand_from " + c.name + "'"
		for _, f := range flagsOf(c) {
			_, says := unquoted(f)
			line := seen + " -l " + f.Name
			if len(f.Name) == 1 {
				line = seen + " -s " + f.Name
			}
			values, files, takes := valuesOf(f)
			if takes {
				line += " -r"
			}
			if files {
				line += " -F"
			}
			if ask := namesOf(f); ask != "" {
				line += " -a " + fishQuoted("("+ask+")")
			} else if len(values) > 0 {
				line += " -a '" + strings.Join(values, " ") + "'"
			}
			fmt.Fprintf(b, "%s -d %s\n", line, fishQuoted(says))
		}
		switch {
		case c.files:
			b.WriteString(seen + " -F\n")
		case len(c.words) > 0:
			b.WriteString(seen + " -a '" + strings.Join(c.words, " ") + "'\n")
			if c.name == "env" {
				b.WriteString(seen + " -n '__fish_seen_subcommand_from lock remove' -a " + fishQuoted("("+askNames+")") + "\n")
			}
		}
	}
}

// fishQuoted writes a word as fish reads it.
func fishQuoted(word string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(word) + "'"
}

func names() (list []string) {
	for _, c := range subcommands() {
		list = append(list, c.name)
	}
	return list
}
