package quickjs

import (
	"context"
	"regexp"
	"strings"
	"sync"

	"github.com/toolcell/toolcell/internal/typescript"
	lib "modernc.org/libquickjs"
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
		if identifier().MatchString(of) && len(of) < maxName {
			return `,"` + of + `")`
		}
		return ")"
	},
	After: "}catch(e){" + awaitedLoop + "_.failed=true;throw e}finally{if(" + awaitedLoop + "_.left)" +
		awaitedLoop + "_.check(await " + awaitedLoop + "_.end())}}",
}

var mayAwaitLoops = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\bfor\s+await\b`) })

// awaited returns a source with its for await loops as they are run, and maps positions
// of errors back to the source. ok is false where there are no such
// loops, or they are not to be found: the source is no JavaScript.
func (in *instance) awaited(code, file string) (guarded string, ok bool) {
	if !strings.Contains(code, "await") || !mayAwaitLoops().MatchString(code) {
		return "", false
	}
	pr := in.rewrite(code, func(ctx context.Context) (*typescript.Program, error) {
		return typescript.GuardLoops(ctx, code, guardOfLoops)
	})
	if pr == nil {
		return "", false
	}
	in.moved(file, pr)
	return pr.Code, true
}

// importMeta is the global that stands for import.meta, which only modules may have, and
// importNamed the one that tells whether a module exports names.
const importMeta, importNamed = "__esm__meta", "__esm__named"

var identifier = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z_$][\w$]*$`) })

// script returns a program with import and export declarations as a script, nil if it
// has none, or is no JavaScript. What TypeScript imports may be types, which no module
// exports.
func (in *instance) script(code string) *typescript.Program {
	stands := typescript.Stands{Meta: importMeta}
	if in.program.Translate == nil {
		stands.Named = importNamed
	}
	return in.rewrite(code, func(ctx context.Context) (*typescript.Program, error) {
		return typescript.Script(ctx, code, stands)
	})
}

// rewrite calls rewriter for a source, and returns nil where that fails.
func (in *instance) rewrite(code string, rewriter func(context.Context) (*typescript.Program, error)) *typescript.Program {
	vm, mark := in.vm, in.vm.borrowed
	defer vm.giveBack(mark)
	if len(code) > small && !vm.tryBorrow(int(typescript.Memory(len(code)))) {
		return nil
	}
	pr, err := rewriter(breather{in.stop, vm})
	if err != nil {
		return nil
	}
	return pr
}

// moved maps positions of a file's code, which was rewritten, to those before.
func (in *instance) moved(file string, pr *typescript.Program) {
	own, before := pr.Position, in.positions.of[file]
	at := own
	if before != nil {
		at = func(line, column int) (int, int) { return before(own(line, column)) }
	}
	in.positions.add(file, at, pr.Size())
}

// breather lets other programs run whenever it is asked whether to go on.
type breather struct {
	context.Context
	vm *vm
}

// Err implements context.Context.
func (b breather) Err() error {
	b.vm.breathe()
	return b.Context.Err()
}

// positions are those of the program in progress and of the latest before it, as
// far as they were made from other sources.
type positions struct {
	of    map[string]func(line, column int) (int, int) // by the program's name
	order []mappedSize                                 // the oldest first
	size  int64
}

type mappedSize struct {
	name string
	size int64
}

// add adds those of a program or a file, or once more of the program in progress.
func (ps *positions) add(name string, position func(line, column int) (int, int), size int64) {
	if ps.of == nil {
		ps.of = map[string]func(int, int) (int, int){}
	}
	ps.of[name] = position
	ps.order = append(ps.order, mappedSize{name, size})
	ps.size += size
}

// at returns where in the source of a file the engine's position is.
func (ps *positions) at(file string, row, column int) (int, int) {
	if position := ps.of[file]; position != nil {
		return position(row, max(column, 1))
	}
	return row, column
}

// trim drops the oldest, so that what a context keeps from run to run is little.
func (ps *positions) trim() {
	for len(ps.order) >= maxMapped || ps.size > maxMappedSize {
		delete(ps.of, ps.order[0].name)
		ps.size -= ps.order[0].size
		ps.order = ps.order[1:]
	}
}

// blame makes the exception of a program with import and export declarations that of
// its own text, compiled as a module, if that is invalid too.
func (in *instance) blame(code, name string) {
	vm := in.vm
	if vm.stopping.Load() {
		return
	}
	e := lib.XJS_GetException(vm.tls, vm.ctx)
	in.parsing = true
	v := vm.eval(code, name, lib.MJS_EVAL_TYPE_MODULE|lib.MJS_EVAL_FLAG_COMPILE_ONLY)
	in.parsing = false
	if isException(v) {
		vm.free(e)
		return
	}
	vm.free(v)
	lib.XJS_Throw(vm.tls, vm.ctx, e)
}
