package codeinterp

import (
	"context"
	"fmt"
	"unicode/utf8"
)

// A Completer completes code that is being typed. It is an optional group; see
// [Completions].
type Completer interface {
	// Complete says what could stand at the cursor, which is an offset in bytes
	// into code, between two characters. It looks at the state that the context
	// has just now, and starts none: where that is gone there is nothing to
	// complete with, and the Completion is empty.
	//
	// It runs neither code nor, but for kernels whose own completer does,
	// anything that the program defined, such as getters. It is no run: it is
	// not counted, and leaves the state as it is. While a run is in progress, or
	// waits, it fails with ErrCapacity at once, and it takes a few seconds at
	// most, whatever ctx says. A language without completions is ErrInvalid; see
	// [LanguageInfo]. Where the runtime had to be ended, the next run
	// reports StateLost.
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
	handle:   func(h Handler) Completer { return completing(h) },
}

// OpComplete is Complete. Its Args are the cursor, an int, and its Reply's Value
// is a [Completion]. It does not have the trait of reading, since kernels may
// call what the program has defined.
var OpComplete = completers.op("complete", 0, serveComplete)

func serveComplete(ctx context.Context, of Completer, c Call) (Reply, error) {
	cursor, ok := c.Args.(int)
	if !ok {
		return unserved(c)
	}
	v, err := of.Complete(ctx, c.Context, c.Code, cursor)
	return Reply{Value: v}, err
}

// completing is a Completer whose calls go to a handler.
type completing Handler

func (h completing) Complete(ctx context.Context, id ContextID, code string, cursor int) (Completion, error) {
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
