// Command fork tries three ways to fill the gaps of a table, each in a copy of one prepared
// Python context, and keeps the best of the copies.
//
//	go run ./examples/fork DIR
//
// DIR is a pack of Python: toolcell engine build --out DIR makes one.
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"math"
	"os"
	"strconv"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/providers/inmemory"
	"github.com/toolcell/toolcell/providers/inmemory/engine"
	"github.com/toolcell/toolcell/providers/inmemory/python"
)

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: fork DIR")
	}
	if err := run(context.Background(), &python.Options{Pack: os.DirFS(os.Args[1])}, os.Stdout); err != nil {
		log.Fatal(err)
	}
}

const prepare = `
import math, statistics
truth = [20 + 8 * math.sin(i / 6) + i / 10 for i in range(100)]
table = [None if i % 7 == 3 else v for i, v in enumerate(truth)]
def score():
    return math.sqrt(statistics.fmean((a - b) ** 2 for a, b in zip(table, truth)))
`

var ways = []struct{ name, code string }{
	{"the mean", "m = statistics.fmean(v for v in table if v is not None)\ntable = [m if v is None else v for v in table]"},
	{"the value before", "for i, v in enumerate(table):\n    if v is None: table[i] = table[i - 1]"},
	{"the line between", "for i, v in enumerate(table):\n    if v is None: table[i] = (table[i - 1] + table[i + 1]) / 2"},
}

func run(ctx context.Context, o *python.Options, out io.Writer) (err error) {
	py, err := python.New(ctx, o)
	if err != nil {
		return err
	}
	ci, err := inmemory.NewStateful(&inmemory.Options{Engines: []engine.Engine{py}})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, ci.Close(), py.Close()) }()
	prepared, err := ci.CreateContext(ctx, "python", nil)
	_, failed := eval(ctx, ci, prepared, prepare)
	if err := cmp.Or(err, failed); err != nil {
		return err
	}
	forks, _ := codeinterp.Forks(ci)
	best, lowest := prepared, math.Inf(1)
	for _, way := range ways {
		id, err := forks.ForkContext(ctx, prepared)
		text, failed := eval(ctx, ci, id, way.code+"\nscore()")
		score, notNumber := strconv.ParseFloat(text, 64)
		if err := cmp.Or(err, failed, notNumber); err != nil {
			return err
		}
		fmt.Fprintf(out, "%s: error %.3f\n", way.name, score)
		if score < lowest {
			best, lowest = id, score
		}
	}
	text, err := eval(ctx, ci, best, "print(*(round(v, 2) for v in table[:5]))")
	fmt.Fprintf(out, "the best begins with %s", text)
	return err
}

// eval returns what a program printed or its value.
func eval(ctx context.Context, ci codeinterp.StatefulInterpreter, id codeinterp.ContextID, code string) (string, error) {
	res, err := ci.RunInContext(ctx, id, code, nil)
	if err == nil && !res.OK() {
		err = fmt.Errorf("%s: %v", res.Status, res.Error)
	}
	return res.Stdout() + res.Text(), err
}
