//go:build !(386 || arm || s390x)

package quickjs

import (
	"context"
	"regexp"
	"sync"

	"github.com/toolcell/toolcell/internal/typescript"
)

// The engine does not await return() of an iterator that a for await loop leaves, and
// calls it where the iterator has ended. So such loops are written anew: what they
// iterate over is watched by an object of library language, which says behind the loop
// what is to be awaited. Programs without them are compiled as they are.

// awaitedLoop is the global that makes the object, and the variable of a loop's own.
const awaitedLoop = "__for__await"

var guardOfLoops = typescript.Guard{
	Before: "{const " + awaitedLoop + "_=" + awaitedLoop + "();try{",
	Open:   awaitedLoop + "_.of(",
	Close: func(of string) string {
		if identifier(of) && len(of) < maxName {
			return `,"` + of + `")`
		}
		return ")"
	},
	After: "}catch(e){" + awaitedLoop + "_.failed=true;throw e}finally{if(" + awaitedLoop + "_.left)" +
		awaitedLoop + "_.check(await " + awaitedLoop + "_.end())}}",
}

var mayAwaitLoops = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\bfor\s+await\b`) })

// awaited returns a source with its for await loops as they are run, and has errors in
// the file tell the positions of the source. ok is false where there are no such
// loops, or they are not to be found: the source is no JavaScript.
func (in *instance) awaited(code, file string, position func(line, column int) (int, int)) (guarded string, ok bool) {
	if !mayAwaitLoops().MatchString(code) {
		return "", false
	}
	vm, mark := in.vm, in.vm.borrowed
	defer vm.giveBack(mark)
	if len(code) > small && !vm.tryBorrow(int(typescript.Memory(len(code)))) {
		return "", false
	}
	pr, err := typescript.GuardLoops(breathing{in.stop, vm}, code, guardOfLoops)
	if err != nil || pr == nil {
		return "", false
	}
	in.reveal(awaitedLoop)
	at := pr.Position
	if position != nil {
		at = func(line, column int) (int, int) { return position(pr.Position(line, column)) }
	}
	in.positions.moved(file, at, pr.Size())
	return pr.Code, true
}

// breathing lets other programs run whenever it is asked whether to go on.
type breathing struct {
	context.Context
	vm *vm
}

// Err implements context.Context.
func (b breathing) Err() error {
	b.vm.breathe()
	return b.Context.Err()
}
