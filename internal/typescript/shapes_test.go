//go:build full

package typescript

import (
	"strconv"
	"strings"
)

const (
	half    = 1 << 19
	million = 1 << 20
)

// A sourceShape is a source that is hard on whoever parses it: head, n times open, middle, n
// times shut, tail. A # in open is replaced by the number of the repetition.
type sourceShape struct {
	name       string
	head, open string
	n          int
	middle     string
	shut, tail string
}

func (s sourceShape) source() string {
	var b strings.Builder
	b.WriteString(s.head)
	for i := range s.n {
		b.WriteString(strings.ReplaceAll(s.open, "#", strconv.Itoa(i)))
	}
	b.WriteString(s.middle)
	b.WriteString(strings.Repeat(s.shut, s.n))
	b.WriteString(s.tail)
	return b.String()
}

var shapes = []sourceShape{
	// Nested expressions.
	{name: "parentheses open", open: "(", n: million},
	{name: "arrays", open: "[", n: half, shut: "]"},
	{name: "objects", head: "x=", open: "{a:", n: half, middle: "1", shut: "}"},
	{name: "class expressions", open: "class A{a=", n: half / 4},
	{name: "heritage", open: "class A extends ", n: half / 2},
	{name: "default values", open: "(a=", n: half},
	{name: "patterns", head: "var ", open: "[", n: million},
	{name: "yields", head: "function* f(){", open: "yield ", n: half, tail: "}"},
	{name: "conditions in conditions", open: "a?", n: half, middle: "b", shut: ":c"},

	// Chained expressions.
	{name: "nots", open: "!", n: million, middle: "1"},
	{name: "sums", head: "1", open: "+1", n: million},
	{name: "assignments", open: "a=", n: half, middle: "1"},
	{name: "arrows with types", open: "(x:T):U=>", n: half / 4, middle: "1"},
	{name: "arrows with blocks", open: "x=>{", n: half / 2, shut: "}"},
	{name: "members", head: "a", open: ".b", n: half},
	{name: "assertions after", head: "a", open: " as b", n: half},
	{name: "assertions before", open: "<a>", n: half, middle: "1"},

	// What may be type arguments.
	{name: "less", open: "a<", n: million, middle: "b"},
	{name: "arguments in arguments", open: "a<b<c>,", n: half / 4, middle: "d"},
	{name: "less, then parentheses", open: "a<", n: 40, middle: "(((((((((((((((((((((((((((((("},
	{name: "async arrows", open: "async<T>(", n: half / 4, shut: ")"},

	// What may be arrow functions.
	{name: "conditions", open: "a?(b):", n: half, middle: "c"},
	{name: "conditions in arrows", open: "a?(b):c=>a?(d):e=>", n: 400, middle: "f", shut: ":g:g"},
	{name: "conditions and long lists", head: "a?(b):c=>[a?(b):c=>[a?(b):c=>[a?(b):c=>[a?(b):c=>[", open: "x,", n: half},
	{name: "annotated parentheses", head: "let x = ", open: "(a:", n: 24, shut: ")=>1"},
	{name: "generic arrows", open: "<T>(x:U):V=>", n: half / 4, middle: "1"},
	{name: "cases", head: "switch(a){", open: "case (a):", n: half / 2, tail: "}"},

	// Types.
	{name: "function types", head: "type A=", open: "(a:", n: half},
	{name: "generics", head: "let a: ", open: "A<", n: million},
	{name: "conditional types", head: "type A=", open: "B extends C?", n: half, middle: "D"},
	{name: "infer", head: "type X = ", open: "infer T extends [", n: 30, middle: "B", shut: "]?1:2", tail: "; let y: number = 1"},
	{name: "template types", head: "type A=", open: "`${", n: half},
	{name: "unions", head: "type A=B", open: "|C", n: half},
	{name: "type parameters", head: "function f", open: "<T extends ", n: half},

	// Statements.
	{name: "blocks open", open: "{", n: million},
	{name: "else ifs", open: "if(a);else ", n: half, middle: ";"},
	{name: "switches", open: "switch(a){case (a):{", n: half / 8},
	{name: "variables", open: "let v#: number = #;\n", n: half / 4},

	// What becomes code.
	{name: "enum", head: "enum E {", open: "a#,", n: half / 2, tail: "}"},
	{name: "enums of one name", open: "enum E {a#}\n", n: half / 8},
	{name: "enums in enums", open: "enum A{B=function(){", n: half / 8, shut: "}}"},
	{name: "namespaces", open: "namespace a{", n: half / 4},
	{name: "parameter properties", head: "class A{constructor(", open: "public x:number,", n: half / 4, tail: "){}}"},

	// Tokens.
	{name: "strings over lines", open: "\"\\\n\"", n: half},
	{name: "comments open", open: "/*", n: million},
	{name: "type far away", head: "type", open: "    ", n: million, middle: "x"},
	{name: "regular expressions", open: "/[", n: million},
	{name: "lines", open: "\n", n: 4 * million, middle: "("},
	{name: "one long type", head: "let a: '", open: "😀", n: million, middle: "' = 1"},
}
