// Package pydriver holds Python source that runs programs, for all providers that run
// Python themselves: evaluation, errors, displays, streams and IPython's syntax. What
// carries frames between it and the host each provider adds.
package pydriver

import (
	"embed"
	"strings"
)

//go:embed *.py
var files embed.FS

// Source returns the files with the names, without .py, one after the other. They share
// one namespace, which begins with driver and, behind what send needs, streams.
func Source(names ...string) string {
	var b strings.Builder
	for _, name := range names {
		source, err := files.ReadFile(name + ".py")
		if err != nil {
			panic(err)
		}
		b.Write(source)
	}
	return b.String()
}
