package codeinterp

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

// A Function is a function of the host that programs call by name: await
// tools.name({...}) in JavaScript and TypeScript, tools.name(**args) in Python, tool
// name '{...}' in bash. It belongs to the run or the context that it was given to; no
// other program can call it. Changes that a program makes to the members of tools end
// with the program.
type Function struct {
	// Name is a letter, followed by at most 63 letters, digits and
	// underscores, all ASCII; no keyword of a language that programs are
	// written in, and neither "aio" nor "then", which have a meaning of their
	// own there.
	Name string

	// Description says what the function does, for the reader of its
	// declaration; at most 64 KiB.
	Description string

	// Input and Output are the JSON Schemas of the arguments and of the result,
	// objects of at most 256 KiB; empty means any. They only describe: Call has to
	// check the values.
	Input, Output json.RawMessage

	// Unlisted omits the name from the list of functions in the error of a call to
	// a function that does not exist.
	Unlisted bool

	// Call serves a call. ctx carries the values of the run's ctx. It ends when the
	// run ends or is about to be stopped, when the call's time is over, and when
	// the program abandons the call. Call must obey it: the run waits for Call to
	// return. Call passes ctx on, so that a run in the context that waits for it
	// fails instead of waiting for itself. It may be called from several
	// goroutines at once. The result is JSON, nested at most [MaxCallDepth] deep;
	// an empty one means null. It must not be changed afterwards.
	//
	// The program gets the text of a [FunctionError] or of ErrRefused; of any other
	// error, or a panic, only that the function failed.
	Call func(ctx context.Context, call FunctionCall) (json.RawMessage, error)
}

// A FunctionCall is one call of a [Function] by a program.
type FunctionCall struct {
	// Number counts the calls of a run, from 1, in the order in which they
	// came to the host.
	Number int
	Name   string
	// Args is a JSON object in UTF-8 that the program made. The function owns it.
	Args json.RawMessage

	Language string    // of the program
	Context  ContextID // of the run; empty in RunCode

	// Show adds an output to those of the run, after what the program printed before
	// the call, and takes ownership of it. It returns false once the run is over. It
	// is nil if the provider does not support it.
	Show func(Output) bool

	next func(context.Context, FunctionCall) (json.RawMessage, error)
}

// A FunctionError is an error of a [Function] that its program may read. A
// function returns one, or an error that wraps one.
type FunctionError struct {
	// Function is the function's name. The driver sets it.
	Function string
	// Message is what the program reads. It must not reveal anything of the host.
	Message string
}

// Error returns "function: message".
func (e *FunctionError) Error() string {
	if e.Function == "" {
		return e.Message
	}
	return e.Function + ": " + e.Message
}

// FunctionMessage returns what a program reads of the error of a function: the message
// of a [FunctionError] or of a refusal, otherwise only that the function failed.
func FunctionMessage(err error) string {
	if e, ok := errors.AsType[*FunctionError](err); ok {
		return e.Message
	}
	if !errors.Is(err, ErrRefused) {
		return "the function failed"
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Err.Error()
	}
	return err.Error()
}

// FunctionLimits bound the calls of one run. The zero value has the defaults.
type FunctionLimits struct {
	// Calls is how many calls a run may make; one more fails. Zero means
	// 10,000, -1 any number.
	Calls int

	// Parallel is how many calls are served at once; further ones wait, first
	// in, first out. Zero means 128.
	Parallel int

	// Args and Result are the largest arguments and the largest result of a call, in
	// bytes; a call with more fails. Zero means 16 MiB, the maximum is 1 GiB, and a
	// provider may support less. The arguments of all calls in progress are bounded
	// by four times Args.
	Args, Result int

	// Pending is how many bytes of results may wait for the program to read them,
	// as when it makes many calls at once. A result for which there is no room
	// fails, unless it is the only one. Zero means 256 MiB.
	Pending int

	// Timeout bounds each call, without the time in which it waits for others. Zero
	// means no bound but the run's.
	Timeout time.Duration

	// ExcludeFromTimeout excludes the time during which a call is in progress from
	// RunOptions.Timeout, for functions that ask a person. What else the program
	// does during that time is excluded too. Result.Duration includes it.
	ExcludeFromTimeout bool
}

// A CallRecord is what a Result says of a call of a [Function].
type CallRecord struct {
	Number int
	Name   string
	// Args and Result are JSON, or the first [MaxRecorded] bytes of it.
	Args, Result string
	// Duration is the time from the call to the return of the function or of the run,
	// whichever was first.
	Duration time.Duration
	// Error is the program's error message, empty if the call succeeded.
	Error string
	// Err is the whole error, which may reveal things of the host. It is not part of
	// the JSON form.
	Err error
}

const (
	// MaxFunctions is how many functions a run may have.
	MaxFunctions = 1000

	// MaxCallDepth is how deep the arguments and the result of a call may be nested.
	// Python's JSON decoder fails at about 1,000 levels.
	MaxCallDepth = 500

	// MaxRecorded is how many bytes a CallRecord keeps of the arguments, and
	// of the result.
	MaxRecorded = 1 << 10

	// MaxCallRecords is how many calls Result.Calls has at most: the first
	// half and the last half of more.
	MaxCallRecords = 256

	maxDescription = 64 << 10
	maxSchema      = 256 << 10

	defaultCalls    = 10_000
	defaultParallel = 128
	defaultCallSize = 16 << 20
	defaultPending  = 256 << 20
	maxCallSize     = 1 << 30
)

// OpCallFunction is a call of a [Function] by a program. Its Args are a FunctionCall,
// and the Reply's Value is a json.RawMessage. Language and Context are those of the
// run. The call comes from inside: the innermost layer sees it first.
var OpCallFunction = Op{&operation{"call function", calls, serveFunction}}

func serveFunction(ctx context.Context, _ CodeInterpreter, c Call) (Reply, error) {
	f, ok := c.Args.(FunctionCall)
	if !ok || f.next == nil {
		return errUnknownOp(c)
	}
	next := f.next
	f.next = nil
	v, err := next(ctx, f)
	return Reply{Value: v}, err
}

// through returns the functions with h around their calls.
func through(h Handler, list []Function) []Function {
	list = slices.Clone(list)
	for i := range list {
		next := list[i].Call
		if next == nil {
			continue // CheckRun and CheckContext refuse it
		}
		list[i].Call = func(ctx context.Context, c FunctionCall) (json.RawMessage, error) {
			c.next = next
			r, err := h(ctx, Call{Op: OpCallFunction, Language: c.Language, Context: c.Context, Args: c})
			v, _ := r.Value.(json.RawMessage)
			return v, err
		}
	}
	return list
}

// keywords are the reserved words of Python, JavaScript and TypeScript that are
// otherwise names, and what the languages attach a meaning to.
var keywords = strings.Fields(`aio then False None True and as assert async await break case catch class const continue
	debugger def default del delete do elif else enum except export extends false finally for from function global if
	implements import in instanceof interface is lambda let new nonlocal not null or package pass private protected
	public raise return static super switch this throw true try typeof var void while with yield`)

var functionName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_]{0,63}$`) })

// ValidFunctionName reports whether a [Function] may have the name.
func ValidFunctionName(name string) bool {
	return functionName().MatchString(name) && !slices.Contains(keywords, name)
}

// checkFunctions returns a copy of list.
func checkFunctions(list []Function) ([]Function, error) {
	if len(list) > MaxFunctions {
		return nil, fmt.Errorf("%w: %d functions; there can be %d", ErrInvalid, len(list), MaxFunctions)
	}
	if len(list) == 0 {
		return nil, nil
	}
	seen := make(map[string]bool, len(list))
	for i := range list {
		f := &list[i]
		switch {
		case !ValidFunctionName(f.Name):
			return nil, fmt.Errorf("%w: function name %.80q; use a letter and then letters, digits and _, at most 64; no keyword, and neither aio nor then", ErrInvalid, f.Name)
		case seen[f.Name]:
			return nil, fmt.Errorf("%w: two functions named %s", ErrInvalid, f.Name)
		case f.Call == nil:
			return nil, fmt.Errorf("%w: function %s has no Call", ErrInvalid, f.Name)
		case len(f.Description) > maxDescription || !utf8.ValidString(f.Description):
			return nil, fmt.Errorf("%w: the description of function %s is longer than %d bytes, or not UTF-8", ErrInvalid, f.Name, maxDescription)
		case !validSchema(f.Input) || !validSchema(f.Output):
			return nil, fmt.Errorf("%w: a schema of function %s is no JSON object, or larger than %d bytes", ErrInvalid, f.Name, maxSchema)
		}
		seen[f.Name] = true
	}
	return slices.Clone(list), nil
}

func validSchema(s json.RawMessage) bool {
	return len(s) == 0 || len(s) <= maxSchema && s[0] == '{' && json.Valid(s) && utf8.Valid(s)
}

// check returns l with the defaults filled in.
func (l FunctionLimits) check() (FunctionLimits, error) {
	if l.Calls < -1 || l.Parallel < 0 || l.Args < 0 || l.Result < 0 || l.Pending < 0 || l.Timeout < 0 {
		return l, fmt.Errorf("%w: negative FunctionLimits", ErrInvalid)
	}
	l.Calls, l.Parallel = cmp.Or(l.Calls, defaultCalls), cmp.Or(l.Parallel, defaultParallel)
	l.Args, l.Result = cmp.Or(l.Args, defaultCallSize), cmp.Or(l.Result, defaultCallSize)
	l.Pending = cmp.Or(l.Pending, defaultPending)
	if max(l.Args, l.Result) > maxCallSize {
		return l, fmt.Errorf("%w: FunctionLimits of %d bytes; %d are the most", ErrInvalid, max(l.Args, l.Result), maxCallSize)
	}
	return l, nil
}

// ValidArgs reports whether args are those of a call: a JSON object in UTF-8.
func ValidArgs(args json.RawMessage) bool {
	return bytes.HasPrefix(bytes.TrimLeft(args, " \t\r\n"), []byte("{")) && json.Valid(args) && utf8.Valid(args)
}
