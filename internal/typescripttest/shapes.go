package typescripttest

const (
	half    = 1 << 19
	million = 1 << 20
)

// Shapes are all of them.
var Shapes = []Shape{
	// Nested expressions.
	{Name: "parentheses open", open: "(", n: million},
	{Name: "arrays", open: "[", n: half, shut: "]"},
	{Name: "objects", head: "x=", open: "{a:", n: half, middle: "1", shut: "}"},
	{Name: "class expressions", open: "class A{a=", n: half / 4},
	{Name: "heritage", open: "class A extends ", n: half / 2},
	{Name: "default values", open: "(a=", n: half},
	{Name: "patterns", head: "var ", open: "[", n: million},
	{Name: "yields", head: "function* f(){", open: "yield ", n: half, tail: "}"},
	{Name: "conditions in conditions", open: "a?", n: half, middle: "b", shut: ":c"},

	// Chained expressions.
	{Name: "nots", open: "!", n: million, middle: "1"},
	{Name: "sums", head: "1", open: "+1", n: million},
	{Name: "assignments", open: "a=", n: half, middle: "1"},
	{Name: "arrows with types", open: "(x:T):U=>", n: half / 4, middle: "1"},
	{Name: "arrows with blocks", open: "x=>{", n: half / 2, shut: "}"},
	{Name: "members", head: "a", open: ".b", n: half},
	{Name: "assertions after", head: "a", open: " as b", n: half},
	{Name: "assertions before", open: "<a>", n: half, middle: "1"},

	// What may be type arguments.
	{Name: "less", open: "a<", n: million, middle: "b"},
	{Name: "arguments in arguments", open: "a<b<c>,", n: half / 4, middle: "d"},
	{Name: "less, then parentheses", open: "a<", n: 40, middle: "(((((((((((((((((((((((((((((("},
	{Name: "async arrows", open: "async<T>(", n: half / 4, shut: ")"},

	// What may be arrow functions.
	{Name: "conditions", open: "a?(b):", n: half, middle: "c"},
	{Name: "conditions in arrows", open: "a?(b):c=>a?(d):e=>", n: 400, middle: "f", shut: ":g:g"},
	{Name: "conditions and long lists", head: "a?(b):c=>[a?(b):c=>[a?(b):c=>[a?(b):c=>[a?(b):c=>[", open: "x,", n: half},
	{Name: "annotated parentheses", head: "let x = ", open: "(a:", n: 24, shut: ")=>1"},
	{Name: "generic arrows", open: "<T>(x:U):V=>", n: half / 4, middle: "1"},
	{Name: "cases", head: "switch(a){", open: "case (a):", n: half / 2, tail: "}"},

	// Types.
	{Name: "function types", head: "type A=", open: "(a:", n: half},
	{Name: "generics", head: "let a: ", open: "A<", n: million},
	{Name: "conditional types", head: "type A=", open: "B extends C?", n: half, middle: "D"},
	{Name: "infer", head: "type X = ", open: "infer T extends [", n: 30, middle: "B", shut: "]?1:2", tail: "; let y: number = 1"},
	{Name: "template types", head: "type A=", open: "`${", n: half},
	{Name: "unions", head: "type A=B", open: "|C", n: half},
	{Name: "type parameters", head: "function f", open: "<T extends ", n: half},

	// Statements.
	{Name: "blocks open", open: "{", n: million},
	{Name: "else ifs", open: "if(a);else ", n: half, middle: ";"},
	{Name: "switches", open: "switch(a){case (a):{", n: half / 8},
	{Name: "variables", open: "let v#: number = #;\n", n: half / 4},

	// What becomes code.
	{Name: "enum", head: "enum E {", open: "a#,", n: half / 2, tail: "}"},
	{Name: "enums of one name", open: "enum E {a#}\n", n: half / 8},
	{Name: "enums in enums", open: "enum A{B=function(){", n: half / 8, shut: "}}"},
	{Name: "namespaces", open: "namespace a{", n: half / 4},
	{Name: "parameter properties", head: "class A{constructor(", open: "public x:number,", n: half / 4, tail: "){}}"},

	// Tokens.
	{Name: "strings over lines", open: "\"\\\n\"", n: half},
	{Name: "comments open", open: "/*", n: million},
	{Name: "type far away", head: "type", open: "    ", n: million, middle: "x"},
	{Name: "regular expressions", open: "/[", n: million},
	{Name: "lines", open: "\n", n: 4 * million, middle: "("},
	{Name: "one long type", head: "let a: '", open: "😀", n: million, middle: "' = 1"},
}
