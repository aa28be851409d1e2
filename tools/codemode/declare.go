package codemode

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/toolcell/toolcell/codeinterp"
)

// A dialect is how functions are declared in a language.
type dialect struct {
	intro, more, files    string // for the model
	fence                 string
	preamble, open, close string // around the declarations
	alias                 string // format of a named type
	result                func(f *function) string
	declare               func(f *function, result string) string
}

const (
	scriptIntro = "Programs can call the functions below: await tools.name({...}) resolves to the result and rejects with a ToolError. " +
		"A result is a value: JSON text of an object or array is parsed, other text is a string. " +
		"Call several at once with Promise.all. Print only what you need to see."
	pythonIntro = "Programs can call the functions below: tools.name(key=value) returns the result and raises a ToolError. " +
		"A result is a value: JSON text of an object or array is parsed, other text is a str. " +
		"In asyncio, await tools.aio.name(key=value). Print only what you need to see."
)

var dialects = map[string]dialect{
	"typescript": script,
	"javascript": script,
	"python": {intro: pythonIntro, fence: "python", preamble: "from typing import Any, Literal, Never\n\n", open: "class Tools:\n", close: pythonClose,
		alias: "%s = %s\n", result: func(f *function) string { return typePython.typed(f.Output) },
		declare: declarePython,
		files:   "Images and files that a function returns are {handle, mime, bytes} in the list _files of its result, with a path if they are files beside the program; tools.display(handle=\"...\") shows one to you.",
		more:    "There are too many to declare here: tools.search(query=\"words\") returns those that fit, as a list of name and description, and tools.describe(name=\"...\") the declaration of one, to print."},
}

var script = dialect{intro: scriptIntro, fence: "ts", open: "declare const tools: {\n", close: "};\n",
	alias: "type %s = %s;\n", result: func(f *function) string { return typeScript.typed(f.Output) }, declare: declareScript,
	files: "Images and files that a function returns are {handle, mime, bytes} in the list _files of its result, with a path if they are files beside the program; await tools.display({handle: \"...\"}) shows one to you.",
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
	unknown: "unknown", never: "never",
	names: map[string]string{"null": "null", "boolean": "boolean", "number": "number", "integer": "number", "string": "string"},
	union: " | ", intersection: " & ",
	list:   func(item string) string { return "Array<" + item + ">" },
	tuple:  func(items []string) string { return "[" + strings.Join(items, ", ") + "]" },
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

func declareScript(f *function, result string) string {
	args := typeScript.arguments(f.Input)
	if args == typeScript.unknown {
		args = typeScript.record(args)
	}
	if args = "args: " + args; !bytes.Contains(f.Input, []byte(`"required"`)) {
		args = strings.Replace(args, "args", "args?", 1)
	}
	text := ""
	if a := about(f); a != "" {
		text = "  /** " + a + " */\n"
	}
	return text + fmt.Sprintf("  %s(%s): Promise<%s>;\n", f.Name, args, result)
}

const pythonClose = "\ntools: Tools\n"

var typePython = spelling{
	unknown: "Any", never: "Never",
	names:  map[string]string{"null": "None", "boolean": "bool", "number": "float", "integer": "int", "string": "str"},
	union:  " | ",
	list:   func(item string) string { return "list[" + item + "]" },
	record: func(value string) string { return "dict[str, " + value + "]" },
	literal: func(values []string) string {
		for i, v := range values {
			switch v {
			case "true", "false":
				values[i] = strings.ToUpper(v[:1]) + v[1:]
			case "null":
				values[i] = "None"
			default:
				if v[0] != '"' && strings.ContainsAny(v, ".eE") {
					return "float"
				}
			}
		}
		return "Literal[" + strings.Join(values, ", ") + "]"
	},
}

func declarePython(f *function, result string) string {
	var params, notes []string
	more := false
	for _, p := range typePython.properties(f.Input) {
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
		params = append(params, "**more_: "+typePython.unknown)
	}
	text := ""
	if a := about(f); a != "" {
		text = "    # " + a + "\n"
	}
	for _, n := range notes {
		text += "    #   " + comment(n, 300) + "\n"
	}
	return text + fmt.Sprintf("    def %s(%s) -> %s: ...\n", f.Name, strings.Join(append([]string{"self"}, params...), ", "), result)
}

// describe returns what the description says of the functions.
func describe(all []function, d dialect, room int) string {
	able := slices.DeleteFunc(slices.Clone(all), func(f function) bool { return f.refused != "" })
	text, ok := declarations(able, d, room)
	if !ok {
		return d.intro + refusals(all, room) + "\n\n" + d.more + "\n\n" + names(able, room)
	}
	return d.intro + refusals(all, room) + "\n\n```" + d.fence + "\n" + text + "```"
}

// declarations declares functions, if they need no more than room. A result type that
// several have is written once.
func declarations(list []function, d dialect, room int) (string, bool) {
	count := map[string]int{}
	for i := range list {
		count[d.result(&list[i])]++
		if len(count)*8 > room {
			return "", false
		}
	}
	var b, shared strings.Builder
	name := map[string]string{}
	for i := range list {
		kind := d.result(&list[i])
		if count[kind] > 1 && len(kind) > minShared {
			if name[kind] == "" {
				name[kind] = freeName(list, len(name)+1)
				fmt.Fprintf(&shared, d.alias, name[kind], kind)
			}
			kind = name[kind]
		}
		if b.WriteString(d.declare(&list[i], kind)); b.Len()+shared.Len() > room {
			return "", false
		}
	}
	return d.preamble + shared.String() + d.open + b.String() + d.close, true
}

// minShared is the shortest type in bytes that is worth a name.
const minShared = 24

// freeName returns a name for the nth shared type, which no function has.
func freeName(list []function, n int) string {
	name := fmt.Sprint("Result", n)
	for slices.ContainsFunc(list, func(f function) bool { return f.Name == name }) {
		name += "_"
	}
	return name
}

// names lists functions as far as there is room.
func names(all []function, room int) string {
	var b strings.Builder
	b.WriteString("The functions: ")
	for i, f := range all {
		if b.Len()+len(f.Name) > room {
			fmt.Fprintf(&b, " and %d more", len(all)-i)
			break
		}
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(f.Name)
	}
	return b.String() + "."
}

// refusals says which tools programs may not call, and why, as far as there is room.
func refusals(all []function, room int) string {
	var b strings.Builder
	for _, f := range all {
		if f.refused == "" {
			continue
		}
		if b.Len() > room {
			b.WriteString("\n- and more; tools.search(query) finds them")
			break
		}
		if b.Len() == 0 {
			b.WriteString("\n\nNot for programs:")
		}
		name := f.Name
		if f.tool != name {
			name += fmt.Sprintf(" (the tool %s)", comment(f.tool, 100))
		}
		fmt.Fprintf(&b, "\n- %s: %s", name, comment(f.refused, 300))
	}
	return b.String()
}
