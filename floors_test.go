package toolcell_test

import (
	"bytes"
	"cmp"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"text/tabwriter"
)

var measureFloors = flag.Bool("floors", false, "measure the README's cost table, on an idle machine")

// missed is the verdict on what is above what it may be.
const missed = "MISSED"

// A floorRow is a line of the table: a metric of a benchmark and the most it may be.
type floorRow struct {
	what, floor       string
	benchmark, metric string
	most              float64 // zero for what is only shown
	unit              string
	scale             float64 // from the benchmark's unit to the row's, zero for 1
	less              string  // a benchmark whose metric is taken off
}

// A floorGroup is benchmarks of one package that run in one go.
type floorGroup struct {
	pkg, bench, time string
	rows             []floorRow
}

var floors = []floorGroup{
	{"./providers/inmemory", "^(BenchmarkRun|BenchmarkNewContext)$", "2s", []floorRow{
		{what: "inmemory: run in a context", floor: "the bare engine", benchmark: "Run", metric: "x-floor", most: 1.9, unit: "x"},
		{what: "inmemory: run in a context", benchmark: "Run", metric: "ns-best", unit: "µs", scale: 1e-3},
		{what: "inmemory: new context", floor: "the bare engine's new realm", benchmark: "NewContext", metric: "x-floor", most: 1.2, unit: "x"},
		{what: "inmemory: new context", benchmark: "NewContext", metric: "ns-best", unit: "ms", scale: 1e-6},
	}},
	{"./providers/inmemory", "^BenchmarkFunctionCall$", "20000x", []floorRow{
		{what: "inmemory: function call", floor: "over the function itself", benchmark: "FunctionCall", metric: "µs/call-over-function", most: 20, unit: "µs"},
	}},
	{"./providers/subprocess", "^(BenchmarkCold|BenchmarkWarm)$", "150x", []floorRow{
		{what: "subprocess: python, fresh, Landlock", floor: "python3 -I by fork and exec", benchmark: "Cold/landlock", metric: "x-floor", most: 1.1, unit: "x"},
		{what: "subprocess: python, fresh, Landlock", benchmark: "Cold/landlock", metric: "p50-µs", unit: "ms", scale: 1e-3},
		{what: "subprocess: python, fresh, bubblewrap", floor: "the same", benchmark: "Cold/bwrap", metric: "x-floor", unit: "x"},
		{what: "subprocess: python, fresh, bubblewrap", benchmark: "Cold/bwrap", metric: "p50-µs", unit: "ms", scale: 1e-3},
		{what: "subprocess: python, warm, Landlock", floor: "the same", benchmark: "Warm", metric: "x-floor", most: 0.25, unit: "x"},
		{what: "subprocess: python, warm, Landlock", benchmark: "Warm", metric: "p50-µs", unit: "ms", scale: 1e-3},
	}},
	{"./providers/inmemory/python", "^(BenchmarkNewContext|BenchmarkFork)$", "100x", []floorRow{
		{what: "inmemory, Python: new context", floor: "as time", benchmark: "NewContext", metric: "ns/op", most: 1, unit: "ms", scale: 1e-6},
		{what: "inmemory, Python: fork of a context with 50 MB", floor: "as time", benchmark: "Fork", metric: "ns/op", most: 30, unit: "ms", scale: 1e-6},
	}},
	{"./providers/inmemory/python", "^BenchmarkRun$/^sum$", "3000x", []floorRow{
		{what: "inmemory, Python: 1+1 in a context", floor: "as time", benchmark: "Run/sum", metric: "ns/op", most: 0.3, unit: "ms", scale: 1e-6},
	}},
	{"./providers/inmemory/python", "^BenchmarkEngine$", "20x", []floorRow{
		{what: "inmemory, Python: first output of a process, compiled before", floor: "as time", benchmark: "Engine", metric: "ns/op", most: 0.15, unit: "s", scale: 1e-9},
	}},
	{"./cmd/toolcell", "^BenchmarkCommand$", "40x", []floorRow{
		{what: "toolcell run: python, Landlock, less 10 ms", floor: "python3 by itself", benchmark: "Command/landlock", metric: "x-floor", most: 1.5, unit: "x"},
		{what: "toolcell run: python, Landlock", benchmark: "Command/landlock", metric: "min-µs", unit: "ms", scale: 1e-3},
		{what: "toolcell run: python, bubblewrap", benchmark: "Command/bwrap", metric: "min-µs", unit: "ms", scale: 1e-3},
	}},
	{"./providers/subprocess", "^BenchmarkWarmNumeric$", "20x", []floorRow{
		{what: "subprocess: numpy and pandas, warm", floor: "importing them", benchmark: "WarmNumeric", metric: "x-floor", unit: "x"},
		{what: "subprocess: numpy and pandas, warm", benchmark: "WarmNumeric", metric: "p50-µs", unit: "ms", scale: 1e-3},
	}},
	{"./providers/subprocess", "^BenchmarkStateful$/^landlock$", "2000x", []floorRow{
		{what: "subprocess: 1+1 in a context", floor: "as time", benchmark: "Stateful/landlock", metric: "p50-µs", most: 0.15, unit: "ms", scale: 1e-3},
		{what: "subprocess: 1+1 in a context", floor: "an echo over the same kind of pipe", benchmark: "Stateful/landlock", metric: "x-floor", unit: "x"},
	}},
	{"./providers/subprocess", "^BenchmarkAttach$", "200x", []floorRow{
		{what: "subprocess: detach and attach a context", floor: "as time", benchmark: "Attach", metric: "p50-µs", most: 20, unit: "ms", scale: 1e-3},
	}},
	{"./providers/jupyter", "^BenchmarkAttach$", "50x", []floorRow{
		{what: "jupyter: detach and attach a context", floor: "as time", benchmark: "Attach", metric: "p50-µs", most: 20, unit: "ms", scale: 1e-3},
	}},
	{"./providers/subprocess", "^BenchmarkFunctions$", "20x", []floorRow{
		{what: "subprocess: function call, python", floor: "as time", benchmark: "Functions/python", metric: "µs/call", most: 0.15, unit: "ms", scale: 1e-3},
		{what: "subprocess: function call, python", floor: "an echo over the same kind of socket", benchmark: "Functions/python", metric: "x-floor", unit: "x"},
		{what: "subprocess: function call, javascript", floor: "as time", benchmark: "Functions/javascript", metric: "µs/call", most: 0.15, unit: "ms", scale: 1e-3},
		{what: "subprocess: function call, javascript", floor: "an echo over the same kind of socket", benchmark: "Functions/javascript", metric: "x-floor", unit: "x"},
	}},
	{"./providers/subprocess", "^BenchmarkNetwork$", "20x", []floorRow{
		{what: "egress: new HTTP connection, bubblewrap", floor: "over the host's network", benchmark: "Network/bwrap", metric: "over-direct-µs", most: 0.3, unit: "ms", scale: 1e-3},
		{what: "egress: new HTTP connection, Landlock", floor: "over the host's network", benchmark: "Network/landlock", metric: "over-direct-µs", most: 0.5, unit: "ms", scale: 1e-3},
		{what: "egress: tunnel, bubblewrap", floor: "a stream without it takes", benchmark: "Network/bwrap", metric: "direct/tunnel", most: 1.43, unit: "x"},
		{what: "egress: tunnel, Landlock", floor: "a stream without it takes", benchmark: "Network/landlock", metric: "direct/tunnel", most: 1.43, unit: "x"},
	}},
	{"./providers/jupyter", "^BenchmarkCell$", "300x", []floorRow{
		{what: "jupyter: 1+1 in a live kernel", floor: "a raw socket", benchmark: "Cell", metric: "ours/floor", most: 1.1, unit: "x"},
		{what: "jupyter: the same without care for acknowledgements", floor: "a raw socket", benchmark: "Cell", metric: "plain/floor", unit: "x"},
		{what: "jupyter: the raw socket", benchmark: "Cell", metric: "floor-ms", unit: "ms"},
	}},
	{"./providers/jupyter", "^BenchmarkFunctions$", "15x", []floorRow{
		{what: "jupyter: function call", floor: "a bare round trip over stdin", benchmark: "Functions", metric: "call/floor", most: 1.3, unit: "x"},
	}},
	{"./providers/jupyter", "^BenchmarkWarm$", "2x", []floorRow{
		{what: "jupyter: new context, warm pool", benchmark: "Warm", metric: "create-ms", unit: "ms"},
	}},
	{"./codeinterp", "^BenchmarkMiddlewares$", "1s", []floorRow{
		{what: "codeinterp: Log, Limit and Approve", floor: "over the bare call", benchmark: "Middlewares/three", metric: "ns/op", unit: "µs", scale: 1e-3, less: "Middlewares/bare"},
	}},
	{"./tools", "^BenchmarkDispatch$", "1s", []floorRow{
		{what: "tools: a call, as text", floor: "over the bare call", benchmark: "Dispatch/text", metric: "ns/op", most: 6, unit: "µs", scale: 1e-3, less: "Dispatch/bare"},
		{what: "tools: a call, as JSON", floor: "over the bare call", benchmark: "Dispatch/json", metric: "ns/op", unit: "µs", scale: 1e-3, less: "Dispatch/bare"},
	}},
}

// TestFloors measures what the README's cost table says, each beside its floor, and prints
// one table. It fails where something is above what it may be: a machine that does anything
// else meanwhile shows nothing.
func TestFloors(t *testing.T) {
	if !*measureFloors {
		t.Skip("run make floors on an idle machine")
	}
	table := tabwriter.NewWriter(os.Stdout, 0, 0, 3, ' ', 0)
	fmt.Fprintln(table, "\tmeasured\tat most\t\tfloor")
	for _, g := range floors {
		fmt.Fprintln(os.Stderr, "==", g.pkg, g.bench)
		found, err := measure(g)
		if err != nil {
			t.Error(err)
		}
		for _, r := range g.rows {
			line := r.line(found)
			if fmt.Fprintln(table, line); strings.Contains(line, missed) {
				t.Errorf("%s is above what it may be", r.what)
			}
		}
	}
	table.Flush()
}

// measure runs a group's benchmarks.
func measure(g floorGroup) (metrics, error) {
	cmd := exec.Command("go", "test", "-tags", "real", "-run", "^$", "-bench", g.bench, "-benchtime", g.time, "-timeout", "10m", g.pkg)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, os.Stderr
	err := cmd.Run()
	if err != nil {
		err = fmt.Errorf("%s: %w\n%s", g.pkg, err, out.Bytes())
	}
	return parseBenchmarks(out.String()), err
}

// line is the row with what was measured.
func (r floorRow) line(found metrics) string {
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
			verdict = missed
		}
	}
	return strings.Join([]string{r.what, fmt.Sprintf("%.3g %s", v, r.unit), most, verdict, r.floor}, "\t")
}

// metrics are those of benchmarks by name and unit, without the prefix
// Benchmark and the number of processors.
type metrics map[string]map[string]float64

var processors = regexp.MustCompile(`-\d+$`)

// parseBenchmarks reads what go test prints. A benchmark that runs several times has the
// last of its values.
func parseBenchmarks(out string) metrics {
	found := metrics{}
	for line := range strings.Lines(out) {
		f := strings.Fields(line)
		if len(f) < 4 || !strings.HasPrefix(f[0], "Benchmark") {
			continue
		}
		name := processors.ReplaceAllString(strings.TrimPrefix(f[0], "Benchmark"), "")
		values := map[string]float64{}
		for i := 2; i+1 < len(f); i += 2 {
			if v, err := strconv.ParseFloat(f[i], 64); err == nil {
				values[f[i+1]] = v
			}
		}
		found[name] = values
	}
	return found
}

func TestFloorLine(t *testing.T) {
	found := parseBenchmarks(`goos: linux
BenchmarkCold/landlock-2   	     150	         2.00 x-floor	     18250 p50-µs
BenchmarkDispatch/bare-2   	  100	      1000 ns/op	       0 B/op
BenchmarkDispatch/text-2   	  100	      5500 ns/op	       0 B/op
PASS
`)
	for _, tt := range []struct {
		row  floorRow
		want string
	}{
		{floorRow{what: "a", floor: "b", benchmark: "Cold/landlock", metric: "x-floor", most: 1.1, unit: "x"}, "a|2 x|1.1 x|MISSED|b"},
		{floorRow{what: "a", benchmark: "Cold/landlock", metric: "p50-µs", unit: "ms", scale: 1e-3}, "a|18.2 ms|||"},
		{floorRow{what: "a", benchmark: "Dispatch/text", metric: "ns/op", most: 6, unit: "µs", scale: 1e-3, less: "Dispatch/bare"}, "a|4.5 µs|6 µs|holds|"},
		{floorRow{what: "a", benchmark: "Warm", metric: "x-floor", unit: "x"}, "a|-||not measured|"},
	} {
		if got := strings.ReplaceAll(tt.row.line(found), "\t", "|"); got != tt.want {
			t.Errorf("got %q, want %q", got, tt.want)
		}
	}
}

// TestFloorsHaveBenchmarks wants each row's benchmark to be one of its package's.
func TestFloorsHaveBenchmarks(t *testing.T) {
	for _, g := range floors {
		files, err := filepath.Glob(filepath.Join(g.pkg, "*_test.go"))
		if err != nil {
			t.Fatal(err)
		}
		var source []byte
		for _, f := range files {
			b, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			source = append(source, b...)
		}
		top, _, _ := strings.Cut(g.bench, "/")
		for _, r := range g.rows {
			name, _, _ := strings.Cut("Benchmark"+r.benchmark, "/")
			if !bytes.Contains(source, []byte("func "+name+"(")) || !regexp.MustCompile(top).MatchString(name) {
				t.Errorf("%s has no benchmark %s that %s takes", g.pkg, name, g.bench)
			}
		}
	}
}
