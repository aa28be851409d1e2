package tools

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/invopop/jsonschema"
	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/jsontally"
	"github.com/toolcell/toolcell/internal/plainjson"
	"github.com/toolcell/toolcell/internal/shorten"
)

// Func returns a function for programs, see [codeinterp.RunOptions], that calls
// f. In is a struct or a map, and the schemas are made from In and Out by their
// json and jsonschema tags: a field without omitempty is required.
//
// Arguments that do not fit, among them unknown and missing ones, are reported to
// the program and f is not called, nor is it for arguments of more than 500,000
// members.
//
// An error of f reaches the program as "the function failed", since its text may
// name what the program must not know. To pass a text, return a
// *[codeinterp.FunctionError], or an error that wraps one:
//
//	return weather{}, &codeinterp.FunctionError{Message: "no such city"}
func Func[In, Out any](name, description string, f func(context.Context, In) (Out, error)) codeinterp.Function {
	input := schemaOf[In]()
	fit := newFit(input)
	return codeinterp.Function{
		Name: name, Description: description, Input: input, Output: schemaOf[Out](),
		Call: func(ctx context.Context, c codeinterp.FunctionCall) (json.RawMessage, error) {
			in, err := decodeArgs[In](c.Args, fit)
			if err != nil {
				return nil, &codeinterp.FunctionError{Message: "invalid arguments: " + shorten.Head(err.Error(), 1<<10)}
			}
			out, err := f(ctx, in)
			if err != nil {
				return nil, err
			}
			return plainjson.Marshal(out)
		},
	}
}

// maxMembers is how many members the objects and arrays of arguments may have: one of
// two bytes can take a hundred times as much once it is decoded.
const maxMembers = 500_000

// decodeArgs reads arguments that fit.
func decodeArgs[In any](args json.RawMessage, f *fit) (in In, err error) {
	if jsontally.Members(args) > maxMembers {
		return in, fmt.Errorf("more than %d members", maxMembers)
	}
	if codeinterp.DeeperThan(args, maxDepth) {
		return in, fmt.Errorf("nested more than %d deep", maxDepth)
	}
	var v any
	if json.Unmarshal(args, &v) != nil {
		return in, errors.New("not valid JSON")
	}
	if err := f.check(f.root, v, ""); err != nil {
		return in, err
	}
	err = json.Unmarshal(args, &in)
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok { // without the host's types
		return in, fmt.Errorf("%s: cannot be the JSON %s", at(wrong.Field), wrong.Value)
	}
	return in, err
}

// schemaOf returns the schema of the JSON of a T, nil if any JSON may be one.
func schemaOf[T any]() json.RawMessage {
	r := jsonschema.Reflector{Anonymous: true, Mapper: func(t reflect.Type) *jsonschema.Schema {
		if t == reflect.TypeFor[json.RawMessage]() {
			return &jsonschema.Schema{}
		}
		return nil
	}}
	root := expanded(r.ReflectFromType(reflect.TypeFor[T]()))
	root.Version = ""
	if s := marshal(root); len(s) > 0 && s[0] == '{' {
		return s
	}
	return nil
}

// expanded puts the definition that a schema refers to in its place. The
// reflector's own way takes it from the definitions also if it refers to itself,
// and has no way with types without a name.
func expanded(root *jsonschema.Schema) *jsonschema.Schema {
	name, ok := strings.CutPrefix(root.Ref, refPrefix)
	of := root.Definitions[name]
	if !ok || of == nil {
		return root
	}
	all := *of
	all.Definitions = maps.Clone(root.Definitions)
	delete(all.Definitions, name)
	if bytes.Contains(marshal(&all), marshal(root.Ref)) {
		all.Definitions = root.Definitions
	}
	return &all
}

// Function returns the tool as a function for programs. Its name is the tool's
// if [codeinterp.ValidFunctionName] allows that, otherwise one that [FunctionName]
// makes of it. The result is the answer's JSON, or its text as a string if it
// has none; images are left out. A Failure is an error with its message.
func (t Tool) Function() codeinterp.Function {
	f := codeinterp.Function{Name: FunctionName(t.Name), Description: strings.ToValidUTF8(shorten.Head(t.Description, 60<<10), "\uFFFD"),
		Input: t.InputSchema, Output: t.OutputSchema}
	f.Call = func(ctx context.Context, c codeinterp.FunctionCall) (json.RawMessage, error) {
		r := serve(ctx, &t, Invocation{Tool: t.Name, Args: c.Args})
		if r.Failure != nil {
			return nil, &codeinterp.FunctionError{Message: r.Failure.Message}
		}
		if v := r.JSON(); len(v) > 0 {
			return v, nil
		}
		return plainjson.Marshal(strings.ToValidUTF8(r.Text, "\uFFFD"))
	}
	return f
}

// FunctionName returns the name itself if [codeinterp.ValidFunctionName] allows it,
// otherwise a similar name that is allowed.
func FunctionName(name string) string {
	if codeinterp.ValidFunctionName(name) {
		return name
	}
	b := []byte(name[:min(len(name), 60)])
	for i, c := range b {
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9') {
			b[i] = '_'
		}
	}
	name = strings.TrimLeft(string(b), "_")
	if name == "" || name[0] <= '9' {
		name = "t_" + name
	}
	name = name[:min(len(name), 63)]
	// What is left is a word that some language reserves.
	if !codeinterp.ValidFunctionName(name) {
		name += "_"
	}
	return name
}

// maxDeclared bounds what a description says of functions, in bytes.
const maxDeclared = 16 << 10

// functions returns the functions for programs in a language.
func (k *kit) functions(language string) []codeinterp.Function {
	if len(k.Functions) == 0 || !slices.Contains(k.callers(), language) {
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
