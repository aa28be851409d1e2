// Command floors measures what the README's cost table says, each beside its
// floor, and prints one table. It says what holds and what does not, for a person
// to judge: a machine that does anything else meanwhile shows nothing.
package main

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"text/tabwriter"
)

// A row is a line of the table: a metric of a benchmark and the most it may be.
type row struct {
	what, floor       string
	benchmark, metric string
	most              float64 // zero for what is only shown
	unit              string
	scale             float64 // from the benchmark's unit to the row's, zero for 1
	less              string  // a benchmark whose metric is taken off
}

// A group is benchmarks of one package that run in one go.
type group struct {
	pkg, bench, time string
	rows             []row
}

var groups = []group{
	{"./providers/inmemory", "^(BenchmarkRun|BenchmarkNewContext)$", "2s", []row{
		{what: "inmemory: run in a context", floor: "the bare engine", benchmark: "Run", metric: "x-floor", most: 1.9, unit: "x"},
		{what: "inmemory: run in a context", benchmark: "Run", metric: "ns-best", unit: "µs", scale: 1e-3},
		{what: "inmemory: new context", floor: "the bare engine's new realm", benchmark: "NewContext", metric: "x-floor", most: 1.2, unit: "x"},
		{what: "inmemory: new context", benchmark: "NewContext", metric: "ns-best", unit: "ms", scale: 1e-6},
	}},
	{"./providers/inmemory", "^BenchmarkFunctionCall$", "20000x", []row{
		{what: "inmemory: function call", floor: "over the function itself", benchmark: "FunctionCall", metric: "µs/call-over-function", most: 20, unit: "µs"},
	}},
	{"./providers/subprocess", "^(BenchmarkCold|BenchmarkWarm)$", "150x", []row{
		{what: "subprocess: python, fresh, Landlock", floor: "python3 -I by fork and exec", benchmark: "Cold/landlock", metric: "x-floor", most: 1.1, unit: "x"},
		{what: "subprocess: python, fresh, Landlock", benchmark: "Cold/landlock", metric: "p50-µs", unit: "ms", scale: 1e-3},
		{what: "subprocess: python, fresh, bubblewrap", floor: "the same", benchmark: "Cold/bwrap", metric: "x-floor", unit: "x"},
		{what: "subprocess: python, fresh, bubblewrap", benchmark: "Cold/bwrap", metric: "p50-µs", unit: "ms", scale: 1e-3},
		{what: "subprocess: python, warm, Landlock", floor: "the same", benchmark: "Warm", metric: "x-floor", most: 0.25, unit: "x"},
		{what: "subprocess: python, warm, Landlock", benchmark: "Warm", metric: "p50-µs", unit: "ms", scale: 1e-3},
	}},
	{"./providers/inmemory/python", "^(BenchmarkNewContext|BenchmarkFork)$", "100x", []row{
		{what: "inmemory, Python: new context", floor: "as time", benchmark: "NewContext", metric: "ns/op", most: 1, unit: "ms", scale: 1e-6},
		{what: "inmemory, Python: fork of a context with 50 MB", floor: "as time", benchmark: "Fork", metric: "ns/op", most: 30, unit: "ms", scale: 1e-6},
	}},
	{"./providers/inmemory/python", "^BenchmarkRun$/^sum$", "3000x", []row{
		{what: "inmemory, Python: 1+1 in a context", floor: "as time", benchmark: "Run/sum", metric: "ns/op", most: 0.3, unit: "ms", scale: 1e-6},
	}},
	{"./providers/inmemory/python", "^BenchmarkEngine$", "20x", []row{
		{what: "inmemory, Python: first output of a process, compiled before", floor: "as time", benchmark: "Engine", metric: "ns/op", most: 0.15, unit: "s", scale: 1e-9},
	}},
	{"./cmd/toolcell", "^BenchmarkCommand$", "40x", []row{
		{what: "toolcell run: python, Landlock, less 10 ms", floor: "python3 by itself", benchmark: "Command/landlock", metric: "x-floor", most: 1.5, unit: "x"},
		{what: "toolcell run: python, Landlock", benchmark: "Command/landlock", metric: "min-µs", unit: "ms", scale: 1e-3},
		{what: "toolcell run: python, bubblewrap", benchmark: "Command/bwrap", metric: "min-µs", unit: "ms", scale: 1e-3},
	}},
	{"./providers/subprocess", "^BenchmarkWarmNumeric$", "20x", []row{
		{what: "subprocess: numpy and pandas, warm", floor: "importing them", benchmark: "WarmNumeric", metric: "x-floor", unit: "x"},
		{what: "subprocess: numpy and pandas, warm", benchmark: "WarmNumeric", metric: "p50-µs", unit: "ms", scale: 1e-3},
	}},
	{"./providers/subprocess", "^BenchmarkStateful$/^landlock$", "2000x", []row{
		{what: "subprocess: 1+1 in a context", floor: "as time", benchmark: "Stateful/landlock", metric: "p50-µs", most: 0.15, unit: "ms", scale: 1e-3},
		{what: "subprocess: 1+1 in a context", floor: "an echo over the same kind of pipe", benchmark: "Stateful/landlock", metric: "x-floor", unit: "x"},
	}},
	{"./providers/subprocess", "^BenchmarkAttach$", "200x", []row{
		{what: "subprocess: detach and attach a context", floor: "as time", benchmark: "Attach", metric: "p50-µs", most: 20, unit: "ms", scale: 1e-3},
	}},
	{"./providers/jupyter", "^BenchmarkAttach$", "50x", []row{
		{what: "jupyter: detach and attach a context", floor: "as time", benchmark: "Attach", metric: "p50-µs", most: 20, unit: "ms", scale: 1e-3},
	}},
	{"./providers/subprocess", "^BenchmarkFunctions$", "20x", []row{
		{what: "subprocess: function call, python", floor: "as time", benchmark: "Functions/python", metric: "µs/call", most: 0.15, unit: "ms", scale: 1e-3},
		{what: "subprocess: function call, python", floor: "an echo over the same kind of socket", benchmark: "Functions/python", metric: "x-floor", unit: "x"},
		{what: "subprocess: function call, javascript", floor: "as time", benchmark: "Functions/javascript", metric: "µs/call", most: 0.15, unit: "ms", scale: 1e-3},
		{what: "subprocess: function call, javascript", floor: "an echo over the same kind of socket", benchmark: "Functions/javascript", metric: "x-floor", unit: "x"},
	}},
	{"./providers/subprocess", "^BenchmarkNetwork$", "20x", []row{
		{what: "egress: new HTTP connection, bubblewrap", floor: "over the host's network", benchmark: "Network/bwrap", metric: "over-direct-µs", most: 0.3, unit: "ms", scale: 1e-3},
		{what: "egress: new HTTP connection, Landlock", floor: "over the host's network", benchmark: "Network/landlock", metric: "over-direct-µs", most: 0.5, unit: "ms", scale: 1e-3},
		{what: "egress: tunnel, bubblewrap", floor: "a stream without it takes", benchmark: "Network/bwrap", metric: "direct/tunnel", most: 1.43, unit: "x"},
		{what: "egress: tunnel, Landlock", floor: "a stream without it takes", benchmark: "Network/landlock", metric: "direct/tunnel", most: 1.43, unit: "x"},
	}},
	{"./providers/jupyter", "^BenchmarkCell$", "300x", []row{
		{what: "jupyter: 1+1 in a live kernel", floor: "a raw socket", benchmark: "Cell", metric: "ours/floor", most: 1.1, unit: "x"},
		{what: "jupyter: the same without care for acknowledgements", floor: "a raw socket", benchmark: "Cell", metric: "plain/floor", unit: "x"},
		{what: "jupyter: the raw socket", benchmark: "Cell", metric: "floor-ms", unit: "ms"},
	}},
	{"./providers/jupyter", "^BenchmarkFunctions$", "15x", []row{
		{what: "jupyter: function call", floor: "a bare round trip over stdin", benchmark: "Functions", metric: "call/floor", most: 1.3, unit: "x"},
	}},
	{"./providers/jupyter", "^BenchmarkWarm$", "2x", []row{
		{what: "jupyter: new context, warm pool", benchmark: "Warm", metric: "create-ms", unit: "ms"},
	}},
	{"./codeinterp", "^BenchmarkMiddlewares$", "1s", []row{
		{what: "codeinterp: Log, Limit and Approve", floor: "over the bare call", benchmark: "Middlewares/three", metric: "ns/op", unit: "µs", scale: 1e-3, less: "Middlewares/bare"},
	}},
	{"./tools", "^BenchmarkDispatch$", "1s", []row{
		{what: "tools: a call, as text", floor: "over the bare call", benchmark: "Dispatch/text", metric: "ns/op", most: 6, unit: "µs", scale: 1e-3, less: "Dispatch/bare"},
		{what: "tools: a call, as JSON", floor: "over the bare call", benchmark: "Dispatch/json", metric: "ns/op", unit: "µs", scale: 1e-3, less: "Dispatch/bare"},
	}},
}

func main() {
	table := tabwriter.NewWriter(os.Stdout, 0, 0, 3, ' ', 0)
	fmt.Fprintln(table, "\tmeasured\tat most\t\tfloor")
	for _, g := range groups {
		fmt.Fprintln(os.Stderr, "==", g.pkg, g.bench)
		found, err := measure(g)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
		for _, r := range g.rows {
			fmt.Fprintln(table, r.line(found))
		}
	}
	if err := table.Flush(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// measure runs a group's benchmarks.
func measure(g group) (results, error) {
	cmd := exec.Command("go", "test", "-tags", "real", "-run", "^$", "-bench", g.bench, "-benchtime", g.time, "-timeout", "10m", g.pkg)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, os.Stderr
	err := cmd.Run()
	if err != nil {
		err = fmt.Errorf("%s: %w\n%s", g.pkg, err, out.Bytes())
	}
	return parse(out.String()), err
}

// line is the row with what was measured.
func (r row) line(found results) string {
	v, ok := found[r.benchmark][r.metric]
	if !ok {
		return fmt.Sprintf("%s\t-\t\tnot measured\t%s", r.what, r.floor)
	}
	if r.less != "" {
		v -= found[r.less][r.metric]
	}
	v *= cmp.Or(r.scale, 1)
	most, verdict := "", ""
	if r.most > 0 {
		most, verdict = fmt.Sprintf("%g %s", r.most, r.unit), "holds"
		if v > r.most {
			verdict = "MISSED"
		}
	}
	return strings.Join([]string{r.what, fmt.Sprintf("%.3g %s", v, r.unit), most, verdict, r.floor}, "\t")
}
