package codeinterp

import (
	"encoding/json"
	"slices"
	"strings"
)

// A Kind says what an Output carries.
type Kind uint8

// The kinds. A Clear is only ever seen by OnOutput: a Result has it applied.
const (
	Stdout  Kind = iota + 1 // bytes written to standard output
	Stderr                  // bytes written to standard error
	Display                 // something shown: a MIME bundle
	Value                   // the last expression's value: a MIME bundle and JSON
	Clear                   // earlier output of the run is withdrawn
)

// String returns the wire name: "stdout", "stderr", "display", "result",
// "clear".
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return "unknown"
}

var kindNames = [...]string{"unknown", "stdout", "stderr", "display", "result", "clear"}

// An Output is one piece of what a program produced. Which fields are set
// depends on Kind.
type Output struct {
	Kind Kind

	// Data holds the raw bytes of a Stdout or Stderr. OnOutput sees chunks
	// that never end within a UTF-8 sequence of valid text.
	Data []byte

	// Bundle holds all representations of a Display or Value, richest first. The
	// text/plain of a Value is what the runtime printed. If a representation cannot
	// be made, the program goes on; python reports that on standard error.
	Bundle []Representation

	// Value is the last expression as JSON, nil where it has no faithful
	// JSON form (NaN, sets, cycles, functions).
	Value json.RawMessage

	// Metadata is the bundle's metadata, a JSON object, or nil.
	Metadata json.RawMessage

	// DisplayID names a Display that can be updated later.
	DisplayID string

	// Update marks a Display that replaces the bundle of every earlier one
	// with its DisplayID. Only OnOutput sees it.
	Update bool

	// Wait delays a Clear until the next output.
	Wait bool

	// Late marks output of a program that has ended. Output that came between two
	// runs is first in the Result of the next one; output that came during a run is
	// among that run's. Output of a thread belongs to the run that started the
	// thread. Work of a pool (Python's ThreadPoolExecutor, ThreadPool, asyncio's
	// executor) belongs to the run that submitted it. Work that reaches a thread
	// otherwise, such as by a queue, belongs to the thread.
	Late bool

	// Dropped is how many bytes of this stream are missing just before this
	// output. Only a Result has it.
	Dropped int64
}

// A Representation is one form of a MIME bundle.
type Representation struct {
	MIME string
	// Data is decoded: UTF-8 for textual types, JSON text for JSON types,
	// the plain bytes for all others, see [IsBinary].
	Data []byte
}

// Text returns a stream's bytes as a string, or a bundle's text/plain.
func (o *Output) Text() string {
	if o.Kind == Stdout || o.Kind == Stderr {
		return string(o.Data)
	}
	rep, _ := o.Richest("text/plain")
	return string(rep.Data)
}

// Richest returns the first of the given MIME types that the bundle has, or,
// with no types given, its richest one.
func (o *Output) Richest(types ...string) (Representation, bool) {
	if len(types) == 0 && len(o.Bundle) > 0 {
		return o.Bundle[0], true
	}
	for _, t := range types {
		for _, rep := range o.Bundle {
			if rep.MIME == t {
				return rep, true
			}
		}
	}
	return Representation{}, false
}

// Size is the number of bytes that the output holds.
func (o *Output) Size() int {
	n := len(o.Data) + len(o.Value) + len(o.Metadata)
	for _, rep := range o.Bundle {
		n += len(rep.Data)
	}
	return n
}

// richness orders a bundle; types that are not listed come after the images
// and before the texts.
var richness = []string{
	"image/png", "image/jpeg", "image/gif", "image/webp", "image/svg+xml",
	"", "text/html", "text/markdown", "text/latex", "application/json", "text/plain",
}

// SortBundle orders representations richest first: images, types with a
// viewer of their own, HTML, Markdown, LaTeX, JSON, plain text. Providers call
// it on what they decode from a map.
func SortBundle(bundle []Representation) {
	rank := func(mime string) int {
		if i := slices.Index(richness, mime); i >= 0 {
			return i
		}
		return slices.Index(richness, "")
	}
	slices.SortStableFunc(bundle, func(a, b Representation) int {
		if d := rank(a.MIME) - rank(b.MIME); d != 0 {
			return d
		}
		return strings.Compare(a.MIME, b.MIME)
	})
}

// IsText reports whether representations of the MIME type are text.
func IsText(mime string) bool {
	mime = baseType(mime)
	return strings.HasPrefix(mime, "text/") || strings.HasSuffix(mime, "+xml") ||
		mime == "application/javascript" || mime == "application/xml"
}

// IsJSON reports whether representations of the MIME type are JSON.
func IsJSON(mime string) bool {
	mime = baseType(mime)
	return mime == "application/json" || strings.HasSuffix(mime, "+json")
}

// IsBinary reports whether representations of the MIME type are bytes, which notebooks
// and kernels encode as base64. Data of other types, such as application/sql, is text
// if it is UTF-8.
func IsBinary(mime string) bool {
	mime = baseType(mime)
	kind, _, _ := strings.Cut(mime, "/")
	switch kind {
	case "image", "audio", "video", "font":
		return !IsText(mime)
	}
	return mime == "application/pdf" || mime == "application/octet-stream" || mime == "application/zip" || mime == "application/gzip"
}

func baseType(mime string) string {
	base, _, _ := strings.Cut(mime, ";")
	return strings.ToLower(strings.TrimSpace(base))
}
