package tools

import (
	"fmt"
	"math"

	"github.com/toolcell/toolcell/files"
)

// The arguments of the file tools.
var (
	argPath = argument{
		name: "path", about: "The path of the file, relative to the directory.",
		to: func(in *input) any { return &in.path }, check: checkPath,
	}
	argAnyPath = argument{
		name: "path", about: "The path of the file or directory, relative to the directory.",
		to: argPath.to, check: checkPath,
	}
	argFrom = argument{
		name: "path", about: "Where to look: the directory itself unless given.", optional: true,
		to: argPath.to, check: checkPath,
	}
	argLine = argument{
		name: "line", about: "The line to start at, from 1.", optional: true,
		to: func(in *input) any { return &in.line }, bounds: positive,
	}
	argLines = argument{
		name: "lines", about: "How many lines to read: those that fit unless given.", optional: true,
		to: func(in *input) any { return &in.lines }, bounds: positive,
	}
	argFileOffset = argument{
		name: "offset", about: "The byte to start at instead of a line: the nextOffset of a page that ended within a line.", optional: true,
		to: argOffset.to, bounds: argOffset.bounds, check: checkStart,
	}
	argContent = argument{
		name: "content", about: "What to write, as it is.",
		to: func(in *input) any { return &in.content },
	}
	argAppend = argument{
		name: "append", about: "Add to the end of what is there. Unless given, false: the file is replaced.", optional: true,
		to: func(in *input) any { return &in.append },
	}
	argOld = argument{
		name: "oldText", about: "The text to replace. It has to match exactly, with its spaces and line ends.",
		to: func(in *input) any { return &in.oldText }, check: checkOld,
	}
	argNew = argument{
		name: "newText", about: "The text to put in its place; empty removes it.",
		to: func(in *input) any { return &in.newText },
	}
	argAll = argument{
		name: "replaceAll", about: "Replace every place that matches. Unless given, false: there has to be exactly one.", optional: true,
		to: func(in *input) any { return &in.all },
	}
	argDepth = argument{
		name: "depth", about: "How deep to go: 1, the directory alone, unless given.", optional: true,
		to:     func(in *input) any { return &in.depth },
		bounds: func(*limits) (int64, int64) { return 1, 100 },
	}
	argGlob = argument{
		name: "pattern", about: "What paths have to match: * and ? within a name, ** over any number of directories, [a-z], {a,b}. Without a slash it is for names, at any depth.",
		to:    func(in *input) any { return &in.pattern },
		check: func(_ *kit, in *input, f *faults) string { return f.pattern("pattern", in.pattern, true) },
	}
	argSearch = argument{
		name: "pattern", about: "The regular expression to search for, in RE2 syntax, within a line.",
		to: argGlob.to, check: checkSearch,
	}
	argLiteral = argument{
		name: "literal", about: "The pattern is a text to be found as it is. False unless given.", optional: true,
		to: func(in *input) any { return &in.literal },
	}
	argIgnoreCase = argument{
		name: "ignoreCase", about: "Upper and lower case are the same. False unless given.", optional: true,
		to: func(in *input) any { return &in.ignoreCase },
	}
	argInclude = argument{
		name: "include", about: "Search the files that match this glob pattern only, such as *.py.", optional: true,
		to:    func(in *input) any { return &in.include },
		check: func(_ *kit, in *input, f *faults) string { return f.pattern("include", in.include, false) },
	}
	argMost = argument{
		name: "limit", optional: true,
		to:     argLimit.to,
		bounds: func(*limits) (int64, int64) { return 1, maxFound },
		more: func(*limits) string {
			return fmt.Sprintf("How many to return at most: 1 to %d. Unless given, %d.", maxFound, defaultFound)
		},
	}
	argRecursive = argument{
		name: "recursive", about: "Remove a directory with all that is in it. False unless given.", optional: true,
		to: func(in *input) any { return &in.all },
	}
)

const (
	maxFound     = 1000
	defaultFound = 200
)

func positive(*limits) (int64, int64) { return 1, math.MaxInt64 }

func checkPath(k *kit, in *input, f *faults) string {
	if _, err := k.files.Name(in.path); err != nil {
		f.add("path: %v", reason(err))
	}
	return ""
}

func checkStart(_ *kit, in *input, f *faults) string {
	if in.offset > 0 && in.line > 0 {
		f.add("offset: give it or line, not both")
	}
	return ""
}

func checkOld(_ *kit, in *input, f *faults) string {
	switch {
	case len(*f) > 0:
	case in.oldText == "":
		f.add("oldText: is empty")
	case in.oldText == in.newText:
		f.add("newText: is the same as oldText")
	}
	return ""
}

func checkSearch(_ *kit, in *input, f *faults) string {
	if in.pattern == "" && len(*f) > 0 {
		return ""
	}
	if err := files.CheckSearch(in.pattern, in.literal); err != nil {
		f.add("pattern: %v", reason(err))
	}
	return ""
}

// pattern checks a glob pattern; a missing one is reported elsewhere.
func (f *faults) pattern(name, pattern string, required bool) string {
	if pattern == "" && (!required || len(*f) > 0) {
		return ""
	}
	if err := files.CheckPattern(pattern); err != nil {
		f.add("%s: %v", name, reason(err))
	}
	return ""
}
