package codeinterp

import (
	"context"
	"fmt"
	"unicode/utf8"
)

// A Completer completes code that is being typed. It is an optional group; see
// [Completions].
type Completer interface {
	// Complete returns what could stand at the cursor, an offset in bytes into code,
	// between two characters. It uses the current state of the context and starts
	// none: if the state is gone, the Completion is empty.
	//
	// It runs no code and, except for kernels whose own completer does, nothing that
	// the program defined, such as getters. It is not a run: it is not counted and
	// leaves the state as it is. While a run is in progress or queued, it fails with
	// ErrCapacity at once. It takes a few seconds at most. A language without
	// completions is ErrInvalid; see [LanguageInfo]. If the runtime had to be ended,
	// the next run reports StateLost.
	Complete(ctx context.Context, id ContextID, code string, cursor int) (Completion, error)
}

// A Completion is what could stand in the place of code[Start:End], offsets in
// bytes between which the cursor is. Without Matches both are the cursor.
type Completion struct {
	// Matches are different from each other, at most [MaxMatches] of at most
	// [MaxMatch] bytes, and of characters that can be shown.
	Matches    []string
	Start, End int
	// More says that there are further ones.
	More bool
}

// The bounds of a [Completion].
const (
	MaxMatches = 500
	MaxMatch   = 512
)

// CheckComplete validates the input of Complete. Providers call it on entry.
func CheckComplete(code string, cursor int) error {
	if err := checkCode(code); err != nil {
		return err
	}
	if cursor < 0 || cursor > len(code) || cursor < len(code) && !utf8.RuneStart(code[cursor]) {
		return fmt.Errorf("%w: cursor %d is not between two characters of the code, which has %d bytes", ErrInvalid, cursor, len(code))
	}
	return nil
}

// Completions returns the Completer of ci, if ci has contexts and one.
func Completions(ci CodeInterpreter) (Completer, bool) { return completers.find(ci) }

var completers = group[Completer]{
	contexts: true,
	handle:   func(h Handler) Completer { return completionsHandler(h) },
}

// OpComplete is Complete. Its Args are the cursor, an int, and its Reply's Value
// is a [Completion]. It does not have the trait of reading, since kernels may
// call what the program has defined.
var OpComplete = completers.op("complete", 0, serveComplete)

func serveComplete(ctx context.Context, of Completer, c Call) (Reply, error) {
	cursor, ok := c.Args.(int)
	if !ok {
		return errUnknownOp(c)
	}
	v, err := of.Complete(ctx, c.Context, c.Code, cursor)
	return Reply{Value: v}, err
}

// completionsHandler is a Completer whose calls go to a handler.
type completionsHandler Handler

func (h completionsHandler) Complete(ctx context.Context, id ContextID, code string, cursor int) (Completion, error) {
	r, err := h(ctx, Call{Op: OpComplete, Context: id, Code: code, Args: cursor})
	v, ok := r.Value.(Completion)
	if err == nil && !ok {
		err = fmt.Errorf("%w: a middleware answered %q without a completion", ErrUnavailable, OpComplete)
	}
	if err != nil {
		return Completion{Start: max(cursor, 0), End: max(cursor, 0)}, err
	}
	return v, nil
}
