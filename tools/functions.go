package tools

import (
	"fmt"
	"slices"
	"strings"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/shorten"
)

// maxDeclared bounds what a description says of functions, in bytes.
const maxDeclared = 16 << 10

// functions returns the functions for programs in a language.
func (k *kit) functions(language string) []codeinterp.Function {
	if !slices.Contains(k.callers(), language) {
		return nil
	}
	return k.Functions
}

// callers returns the languages whose programs can call functions.
func (k *kit) callers() (names []string) {
	for _, l := range k.facts.info.Languages {
		if l.Functions {
			names = append(names, l.Name)
		}
	}
	return names
}

// functionsToo says that contexts have the functions.
func functionsToo(k *kit) string {
	if functionsFact(k) == "" {
		return ""
	}
	return "Programs in a context can call the functions that " + k.name("run_code") + " describes."
}

// functionsFact declares the functions that programs can call.
func functionsFact(k *kit) string {
	callers := k.callers()
	if len(k.Functions) == 0 || len(callers) == 0 {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Programs in %s can call functions, in JavaScript as await tools.name({key: value}), in Python as tools.name(key=value):", strings.Join(callers, ", "))
	var rest []string
	for _, f := range k.Functions {
		line := "\n- " + f.Name
		if f.Description != "" {
			line += ": " + strings.ReplaceAll(strings.TrimSpace(f.Description), "\n", " ")
		}
		if len(f.Input) > 0 {
			line += " Arguments: " + string(f.Input)
		}
		if len(f.Output) > 0 {
			line += " Returns: " + string(f.Output)
		}
		if b.Len()+len(line) > maxDeclared {
			rest = append(rest, f.Name)
			continue
		}
		b.WriteString(line)
	}
	if len(rest) > 0 {
		b.WriteString(shorten.Head("\nFurther functions: "+strings.Join(rest, ", "), maxDeclared))
	}
	return b.String()
}
