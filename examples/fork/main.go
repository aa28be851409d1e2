// Command fork tries three ways to fill the gaps of a table, each in a copy of one prepared
// Python context, and keeps the best of the copies.
//
//	go run ./examples/fork [DIR]
//
// DIR is a pack of Python, to run it in this process: toolcell engine build --out DIR makes
// one. Without it Python runs in processes of its own, which needs Linux.
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
	"github.com/toolcell/toolcell/providers/subprocess"
)

func main() {
	var o *python.Options
	if len(os.Args) > 1 {
		o = &python.Options{Pack: os.DirFS(os.Args[1])}
	}
	ctx := context.Background()
	ci, closed, err := open(ctx, o)
	if err == nil {
		err = errors.Join(run(ctx, ci, os.Stdout), closed())
	}
	if err != nil {
		log.Fatal(err)
	}
}

// open returns an interpreter whose contexts of Python can be copied, and what closes it.
func open(ctx context.Context, o *python.Options) (codeinterp.StatefulInterpreter, func() error, error) {
	if o == nil {
		ci, err := subprocess.NewStateful(&subprocess.Options{Forks: true})
		if err != nil {
			return nil, nil, err
		}
		return ci, ci.Close, nil
	}
	py, err := python.New(ctx, o)
	if err != nil {
		return nil, nil, err
	}
	ci, err := inmemory.NewStateful(&inmemory.Options{Engines: []engine.Engine{py}})
	if err != nil {
		return nil, nil, errors.Join(err, py.Close())
	}
	return ci, func() error { return errors.Join(ci.Close(), py.Close()) }, nil
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

func run(ctx context.Context, ci codeinterp.StatefulInterpreter, out io.Writer) error {
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
