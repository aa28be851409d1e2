package codemode

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/toolcell/toolcell/codeinterp"
)

// A dialect is how functions are declared in a language.
type dialect struct {
	intro, more, files string // for the model
	fence              string
	open, close        string // around the declarations
	declare            func(f *function) string
}

const (
	scriptIntro = "Programs can call the functions below: await tools.name({...}) resolves to the result, which is a value, not text, and rejects with a ToolError. " +
		"Call several at once with Promise.all. Print only what you need to see."
	pythonIntro = "Programs can call the functions below: tools.name(key=value) returns the result, which is a value, not text, and raises a ToolError. " +
		"In asyncio, await tools.aio.name(key=value). Print only what you need to see."
)

var dialects = map[string]dialect{
	"typescript": script,
	"javascript": script,
	"python": {intro: pythonIntro, fence: "python", open: pythonOpen, close: pythonClose, declare: declarePython,
		files: "Images and files that a function returns come as {handle, mime, bytes} in the list _files of its result, and with a path where they are files beside the program; tools.display(handle=\"...\") shows one to you.",
		more:  "There are too many to declare here: tools.search(query=\"words\") returns those that fit, as a list of name and description, and tools.describe(name=\"...\") the declaration of one, to print."},
}

var script = dialect{intro: scriptIntro, fence: "ts", open: "declare const tools: {\n", close: "};\n", declare: declareScript,
	files: "Images and files that a function returns come as {handle, mime, bytes} in the list _files of its result, and with a path where they are files beside the program; await tools.display({handle: \"...\"}) shows one to you.",
	more:  "There are too many to declare here: await tools.search({query: \"words\"}) returns those that fit, as a list of {name, description}, and await tools.describe({name: \"...\"}) the declaration of one, to print."}

// about is the comment of a function.
func about(f *function) string {
	text := comment(f.Description, 300)
	if f.tool != f.Name {
		text += fmt.Sprintf(" (the tool %s)", comment(f.tool, 100))
	}
	return strings.ReplaceAll(strings.TrimSpace(text), "*/", "* /")
}

var typeScript = spelling{
	unknown: "unknown", never: "never", null: "null", boolean: "boolean", number: "number", integer: "number", text: "string",
	union: " | ", intersection: " & ",
	list:   func(item string) string { return "Array<" + item + ">" },
	record: func(value string) string { return "Record<string, " + value + ">" },
	object: objectType,
	literal: func(values []string) string {
		if len(values) == 1 {
			return values[0]
		}
		return "(" + strings.Join(values, " | ") + ")"
	},
}

var identifier = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z_$][A-Za-z0-9_$]*$`) })

func objectType(fields []field) string {
	var b strings.Builder
	b.WriteString("{ ")
	for i, f := range fields {
		if i > 0 {
			b.WriteString("; ")
		}
		if f.about != "" {
			b.WriteString("/** " + f.about + " */ ")
		}
		name := f.name
		if !identifier().MatchString(name) {
			name = quote(name)
		}
		b.WriteString(name)
		if f.optional {
			b.WriteString("?")
		}
		b.WriteString(": " + f.kind)
	}
	return b.String() + " }"
}

func declareScript(f *function) string {
	fields := typeScript.fields(f.Input)
	args := "args?: Record<string, unknown>"
	if len(fields) > 0 {
		args = "args: " + objectType(fields)
		if !slices.ContainsFunc(fields, func(f field) bool { return !f.optional }) {
			args = "args?: " + objectType(fields)
		}
	}
	text := ""
	if a := about(f); a != "" {
		text = "  /** " + a + " */\n"
	}
	return text + fmt.Sprintf("  %s(%s): Promise<%s>;\n", f.Name, args, typeScript.typed(f.Output))
}

const (
	pythonOpen  = "from typing import Any, Literal, Never\n\nclass Tools:\n"
	pythonClose = "\ntools: Tools\n"
)

var typePython = pythonTypes("", "")

// shadowing are the names of types that a function, within the class, would
// stand in front of.
var shadowing = []string{"Any", "Literal", "Never", "bool", "dict", "float", "int", "list", "str"}

// dialectOf returns how functions are declared in a language.
func dialectOf(language string, all []function) dialect {
	d := dialects[language]
	if d.fence != "python" || !slices.ContainsFunc(all, func(f function) bool { return slices.Contains(shadowing, f.Name) }) {
		return d
	}
	plain := pythonTypes("_b.", "_t.") // no function has such a name
	d.open = "import builtins as _b, typing as _t\n\nclass Tools:\n"
	d.declare = func(f *function) string { return declareIn(plain, f) }
	return d
}

// pythonTypes returns the spelling with something before the names of builtins,
// and of what typing has.
func pythonTypes(b, t string) spelling {
	return spelling{
		unknown: t + "Any", never: t + "Never", null: "None", boolean: b + "bool", number: b + "float", integer: b + "int", text: b + "str",
		union:  " | ",
		list:   func(item string) string { return b + "list[" + item + "]" },
		record: func(value string) string { return b + "dict[" + b + "str, " + value + "]" },
		literal: func(values []string) string {
			for i, v := range values {
				switch v {
				case "true", "false":
					values[i] = strings.ToUpper(v[:1]) + v[1:]
				case "null":
					values[i] = "None"
				default:
					if v[0] != '"' && strings.ContainsAny(v, ".eE") {
						return b + "float"
					}
				}
			}
			return t + "Literal[" + strings.Join(values, ", ") + "]"
		},
	}
}

func declarePython(f *function) string { return declareIn(typePython, f) }

func declareIn(types spelling, f *function) string {
	var params, notes []string
	more := false
	for _, p := range types.fields(f.Input) {
		if !codeinterp.ValidFunctionName(strings.TrimLeft(p.name, "_")) || p.name == "self" {
			more = true
			notes = append(notes, quote(p.name)+" by ** of a dict")
			continue
		}
		param := p.name + ": " + p.kind
		if p.optional {
			param += " = ..."
		}
		params = append(params, param)
		if p.about != "" {
			notes = append(notes, p.name+": "+p.about)
		}
	}
	if len(params) > 0 {
		params = append([]string{"*"}, params...)
	}
	if more || len(params) == 0 {
		params = append(params, "**"+others(params)+": "+types.unknown)
	}
	text := ""
	if a := about(f); a != "" {
		text = "    # " + a + "\n"
	}
	for _, n := range notes {
		text += "    #   " + comment(n, 300) + "\n"
	}
	return text + fmt.Sprintf("    def %s(%s) -> %s: ...\n", f.Name, strings.Join(append([]string{"self"}, params...), ", "), types.typed(f.Output))
}

// others returns a name for the further arguments that none of params has.
func others(params []string) string {
	name := "more"
	for slices.ContainsFunc(params, func(p string) bool { return strings.HasPrefix(p, name+":") }) {
		name += "_"
	}
	return name
}
