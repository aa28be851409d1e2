package tools

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/toolcell/toolcell/codeinterp"
)

// An argument is declared once. Schemas, decoding and checks follow from it.
type argument struct {
	name     string
	about    string
	optional bool
	unit     string // follows the bounds
	// to returns where the value goes: a *string, *int64 or *bool. The zero
	// value means that an optional argument is absent.
	to func(*input) any
	// enum lists the values of a string. If resolves is set, other names may mean one
	// of them.
	enum     func(*limits) []string
	resolves bool
	// bounds returns those of an integer.
	bounds func(*limits) (least, most int64)
	// more describes the limits in words, since several consumers drop the keywords
	// of the schema.
	more func(*limits) string
	// check checks the value and may replace it. It returns the code of a fault.
	check func(k *kit, in *input, f *faults) (code string)
}

// input has the values of all arguments.
type input struct {
	language, code      string
	contextID, outputID string
	stream              string
	timeoutMs           int64
	offset, limit       int64

	path, content, pattern, include  string
	oldText, newText                 string
	line, lines, depth               int64
	append, all, literal, ignoreCase bool

	command, cwd, stdin, commandID string
	keys                           string
	columns, rows                  int64
	waitMs                         int64
	last                           bool

	dir, branch, from, to, message string
	create, staged                 bool
}

var (
	argLanguage = argument{
		name: "language", about: "The language that the code is written in.",
		to:       func(in *input) any { return &in.language },
		enum:     func(l *limits) []string { return l.languages },
		resolves: true,
		check:    func(k *kit, in *input, f *faults) string { return k.checkLanguage(&in.language, k.limits.languages, f) },
	}
	argContextLanguage = argument{
		name: "language", about: "The language that all code of the context will be written in.",
		to:       argLanguage.to,
		enum:     func(l *limits) []string { return l.contexts },
		resolves: true,
		check:    func(k *kit, in *input, f *faults) string { return k.checkLanguage(&in.language, k.limits.contexts, f) },
	}
	argCode = argument{
		name: "code", about: "The source code to run.",
		to: func(in *input) any { return &in.code }, more: codeSize, check: checkCode,
	}
	argContextCode = argument{
		name: "code", about: "The source code to run, in the context's language.",
		to: argCode.to, more: codeSize, check: checkCode,
	}
	argTimeout = argument{
		name: "timeoutMs", optional: true, unit: " milliseconds",
		to:     func(in *input) any { return &in.timeoutMs },
		bounds: func(l *limits) (int64, int64) { return 1, l.maxTimeout },
		more:   aboutTimeout,
	}
	argContext = argument{
		name: "contextId", about: "The contextId that the call creating the context returned.",
		to: func(in *input) any { return &in.contextID },
	}
	argOutput = argument{
		name: "outputId", about: "The outputId that the result of the run gave.",
		to: func(in *input) any { return &in.outputID },
	}
	argStream = argument{
		name: "stream", about: "Which part to read: stdout unless given.", optional: true,
		to:   func(in *input) any { return &in.stream },
		enum: func(*limits) []string { return []string{"stdout", "stderr", "display", "error"} },
	}
	argOffset = argument{
		name: "offset", about: "The byte to start at: 0 unless given, then the nextOffset of the page before.", optional: true,
		to:     func(in *input) any { return &in.offset },
		bounds: func(*limits) (int64, int64) { return 0, math.MaxInt64 },
	}
	argLimit = argument{
		name: "limit", optional: true,
		to:     func(in *input) any { return &in.limit },
		bounds: func(l *limits) (int64, int64) { return 1, l.maxRead },
		more: func(l *limits) string {
			return fmt.Sprintf("How many bytes to read at most: 1 to %d. Unless given, %d.", l.maxRead, l.maxRead)
		},
	}
)

func codeSize(l *limits) string {
	if l.code == 0 {
		return ""
	}
	return fmt.Sprintf("At most %d bytes.", l.code)
}

func aboutTimeout(l *limits) string {
	s := fmt.Sprintf("After how many milliseconds the code is stopped: 1 to %d.", l.maxTimeout)
	if l.timeout > 0 {
		s += fmt.Sprintf(" Unless given, %d.", l.timeout)
	}
	return s
}

// checkLanguage resolves a language, which must be one of those allowed.
func (k *kit) checkLanguage(language *string, allowed []string, f *faults) (code string) {
	if *language == "" && len(*f) > 0 {
		return ""
	}
	name, err := k.facts.resolve(*language, k.limits.languages)
	if err == nil && !slices.Contains(allowed, name) {
		err = fmt.Errorf("%s has no contexts here; those that have: %s", name, strings.Join(allowed, ", "))
	}
	if err != nil {
		f.add("language: %v", err)
		return CodeLanguage
	}
	*language = name
	return ""
}

func checkCode(k *kit, in *input, f *faults) (code string) {
	in.code = stripFence(in.code)
	if _, err := codeinterp.CheckRun(in.code, nil); err != nil {
		f.add("%s", strings.TrimPrefix(err.Error(), codeinterp.ErrInvalid.Error()+": "))
	}
	return ""
}
