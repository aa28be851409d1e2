package tools

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/tidwall/gjson"
	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/shorten"
)

const (
	// maxArgs is the largest JSON of arguments in bytes. The largest program fits,
	// escaped.
	maxArgs = 4 * codeinterp.MaxCode

	// maxDepth is how deeply arguments may be nested; ours are flat.
	maxDepth = 100

	maxFaults = 20
)

// faults collects what is wrong with a call's arguments.
type faults []string

func (f *faults) add(format string, args ...any) {
	if len(*f) < maxFaults {
		*f = append(*f, fmt.Sprintf(format, args...))
	}
}

// decode reads the JSON of arguments.
func decode(raw []byte, args []argument, lim *limits) (*input, faults) {
	in := &input{}
	var f faults
	object, ok := parse(raw, &f)
	if !ok {
		return in, f
	}
	var seen uint64
	object.ForEach(func(key, value gjson.Result) bool {
		i := slices.IndexFunc(args, func(a argument) bool { return a.name == key.Str })
		switch {
		case i < 0:
			f.add("%s", unknown(key.Str, args))
			return len(f) < maxFaults
		case seen&(1<<i) != 0:
			f.add("%s: given more than once", key.Str)
			return len(f) < maxFaults
		}
		seen |= 1 << i
		// Strict schemas require every argument: null means absent.
		if a := &args[i]; value.Type != gjson.Null || !a.optional {
			a.store(value, in, lim, &f)
		}
		return true
	})
	for i := range args {
		if a := &args[i]; !a.optional && seen&(1<<i) == 0 {
			f.add("%s: required, and missing", a.name)
		}
	}
	return in, f
}

// parse checks that raw is one JSON object, or a JSON string that holds one.
// Empty input means an empty object. Limits are checked before parsing.
func parse(raw []byte, f *faults) (gjson.Result, bool) {
	text, ok := checkText(raw, f)
	if !ok {
		return gjson.Result{}, false
	}
	v := gjson.Parse(text)
	// Some models encode the arguments twice.
	if v.Type == gjson.String {
		if text, ok = checkText([]byte(v.Str), f); !ok {
			return gjson.Result{}, false
		}
		v = gjson.Parse(text)
	}
	if !v.IsObject() {
		f.add("arguments: need a JSON object, got %s", kindOf(v))
		return gjson.Result{}, false
	}
	return v, true
}

func checkText(raw []byte, f *faults) (string, bool) {
	switch {
	case len(raw) > maxArgs:
		f.add("arguments: %d bytes, more than %d; put data into a file", len(raw), maxArgs)
		return "", false
	// Before the check of gjson, which recurses.
	case codeinterp.DeeperThan(raw, maxDepth):
		f.add("arguments: nested more than %d deep", maxDepth)
		return "", false
	case !utf8.Valid(raw):
		f.add("arguments: not valid UTF-8")
		return "", false
	}
	text := strings.TrimSpace(string(raw))
	if text == "" || text == "null" {
		text = "{}"
	}
	if !gjson.Valid(text) {
		f.add("arguments: not valid JSON; send one complete object, with newlines and quotes in strings escaped")
		return "", false
	}
	return text, true
}

// store checks a value and puts it where it belongs.
func (a *argument) store(v gjson.Result, in *input, lim *limits, f *faults) {
	switch to := a.to(in).(type) {
	case *string:
		if v.Type != gjson.String {
			f.add("%s: need a string, got %s", a.name, kindOf(v))
			return
		}
		if a.enum != nil && !a.resolves {
			if known := a.enum(lim); !slices.Contains(known, v.Str) {
				f.add("%s: need one of %s, got %s", a.name, strings.Join(known, ", "), shorten.Head(strconv.Quote(v.Str), 60))
				return
			}
		}
		*to = v.Str
	case *bool:
		if !v.IsBool() {
			f.add("%s: need true or false, got %s", a.name, kindOf(v))
			return
		}
		*to = v.Bool()
	case *int64:
		if text := strings.TrimSpace(v.Str); v.Type == gjson.String && text != "" && gjson.Valid(text) {
			v = gjson.Parse(text) // as some models write it
		}
		least, most := a.bounds(lim)
		most = min(most, maxInteger)
		n, ok := integer(v)
		switch {
		case !ok:
			f.add("%s: need an integer, got %s", a.name, kindOf(v))
		case n < least || n > most:
			f.add("%s: need %d to %d%s, got %s", a.name, least, most, a.unit, shorten.Head(v.Raw, 30))
		default:
			*to = n
		}
	}
}

// integer reads a number without a fraction, in any notation. Those beyond
// 2^62 are cut to it.
func integer(v gjson.Result) (int64, bool) {
	if v.Type != gjson.Number {
		return 0, false
	}
	if n, err := strconv.ParseInt(v.Raw, 10, 64); err == nil {
		return n, true
	}
	x, err := strconv.ParseFloat(v.Raw, 64)
	// 1e999 is an error and an infinity, which is cut like other large numbers.
	if err != nil && !math.IsInf(x, 0) || x != math.Trunc(x) {
		return 0, false
	}
	return int64(min(max(x, -1<<62), 1<<62)), true
}

// unknown reports an argument that does not exist, with the one that may be meant.
func unknown(name string, args []argument) string {
	var names []string
	for _, a := range args {
		names = append(names, a.name)
	}
	fault := fmt.Sprintf("%s: no such argument", shorten.Head(strconv.Quote(name), 60))
	if best := closest(name, names); best != "" {
		return fault + "; did you mean " + best + "?"
	}
	if len(names) == 0 {
		return fault + "; there are none"
	}
	return fault + "; there are " + strings.Join(names, ", ")
}

// closest returns the name that equals the given one except for case, "_" and "-", or
// that has it at one of its ends.
func closest(name string, names []string) string {
	fold := func(s string) string {
		return strings.ToLower(strings.NewReplacer("_", "", "-", "").Replace(s))
	}
	n := fold(shorten.Head(name, 80))
	for _, c := range names {
		f := fold(c)
		if f == n || len(n) >= 4 && (strings.HasPrefix(f, n) || strings.HasSuffix(f, n) || strings.HasPrefix(n, f)) {
			return c
		}
	}
	return ""
}

// kindOf names a value's type, with the value if it is short.
func kindOf(v gjson.Result) string {
	switch {
	case v.Type == gjson.Null:
		return "null"
	case v.Type == gjson.String:
		return "the string " + shorten.Head(strconv.Quote(v.Str), 40)
	case v.IsArray():
		return "an array"
	case v.IsObject():
		return "an object"
	}
	return shorten.Head(v.Raw, 40)
}
