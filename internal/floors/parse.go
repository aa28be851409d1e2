package main

import (
	"regexp"
	"strconv"
	"strings"
)

// results are the metrics of benchmarks by name and unit, without the prefix
// Benchmark and the number of processors.
type results map[string]map[string]float64

var processors = regexp.MustCompile(`-\d+$`)

// parse reads what go test prints. A benchmark that runs several times has the
// last of its values.
func parse(out string) results {
	found := results{}
	for line := range strings.Lines(out) {
		f := strings.Fields(line)
		if len(f) < 4 || !strings.HasPrefix(f[0], "Benchmark") {
			continue
		}
		name := processors.ReplaceAllString(strings.TrimPrefix(f[0], "Benchmark"), "")
		metrics := map[string]float64{}
		for i := 2; i+1 < len(f); i += 2 {
			if v, err := strconv.ParseFloat(f[i], 64); err == nil {
				metrics[f[i+1]] = v
			}
		}
		found[name] = metrics
	}
	return found
}
