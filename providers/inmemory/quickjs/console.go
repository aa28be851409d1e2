package quickjs

import (
	"bytes"
	"fmt"
	"strconv"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	lib "modernc.org/libquickjs"
)

// A console is the state of the realm's console.
type console struct {
	indent string
	counts map[string]int
	timers map[string]time.Time
}

// The host keeps so many counts and timers, by labels of so many bytes.
const (
	maxLabels = 10_000
	maxLabel  = 256
)

const maxIndent = 200

func consoleFunctions() []function {
	out, err := codeinterp.Stdout, codeinterp.Stderr
	log := func(kind codeinterp.Kind) func(*instance, value, []value) value {
		return func(in *instance, _ value, args []value) value { return in.log(kind, args) }
	}
	none := func(*instance, value, []value) value { return undefined }
	return []function{ // in node's order
		{"log", 0, log(out)}, {"warn", 0, log(err)},
		{"dir", 2, (*instance).consoleDir},
		{"time", 1, (*instance).consoleTime},
		{"timeEnd", 1, func(in *instance, _ value, args []value) value { return in.consoleElapsed(args, true) }},
		{"timeLog", 1, func(in *instance, _ value, args []value) value { return in.consoleElapsed(args, false) }},
		{"trace", 0, (*instance).consoleTrace},
		{"assert", 1, (*instance).consoleAssert},
		{"clear", 0, none},
		{"count", 1, (*instance).consoleCount},
		{"countReset", 1, (*instance).consoleCountReset},
		{"group", 0, (*instance).consoleGroup},
		{"groupEnd", 0, func(in *instance, _ value, _ []value) value {
			in.console.indent = in.console.indent[:max(0, len(in.console.indent)-2)]
			return undefined
		}},
		{"table", 2, (*instance).consoleTable},
		{"debug", 0, log(out)}, {"info", 0, log(out)}, {"dirxml", 0, log(out)}, {"error", 0, log(err)},
		{"groupCollapsed", 0, (*instance).consoleGroup},
		{"profile", 0, none}, {"profileEnd", 0, none}, {"timeStamp", 0, none},
	}
}

// log formats its arguments as node's console.log does and prints a line.
func (in *instance) log(kind codeinterp.Kind, args []value) value {
	s, ok := in.format(args)
	if !ok {
		return exception
	}
	return in.line(kind, s)
}

// format is node's util.format, with room for a line's end.
func (in *instance) format(args []value) ([]byte, bool) {
	mark := in.vm.borrowed
	if s, plain, ok := in.formatPlain(args); plain {
		return s, ok
	}
	in.vm.giveBack(mark)
	s, _, thrown := in.driverCall("format", args...)
	return s, !thrown
}

// formatPlain formats arguments that need no driver: strings without
// directives and a few other primitives. plain is false for others, ok where an
// exception is pending.
func (in *instance) formatPlain(args []value) (_ []byte, plain, ok bool) {
	if len(args) == 1 && isString(args[0]) {
		s, _, ok := in.vm.textBytes(args[0], 1)
		return s, true, ok
	}
	d := draft{vm: in.vm}
	for i, a := range args {
		if i > 0 && !d.add(" ") {
			return nil, true, false
		}
		if s, primitive := in.primitive(a); primitive {
			ok = d.add(s)
		} else if isString(a) {
			ok = d.addText(a)
		} else {
			return nil, false, false
		}
		if !ok {
			return nil, true, false
		}
		if i == 0 && len(args) > 1 && isString(a) && bytes.IndexByte(d.b, '%') >= 0 {
			return nil, false, false
		}
	}
	return d.b, true, d.grow(1)
}

// line prints a line, indented as groups are.
func (in *instance) line(kind codeinterp.Kind, s []byte) value {
	if in.console.indent != "" {
		indent := []byte(in.console.indent)
		if !in.vm.borrow((bytes.Count(s, []byte("\n"))+2)*len(indent) + 2*len(s)) {
			return exception
		}
		s = append(indent, bytes.ReplaceAll(s, []byte("\n"), append([]byte("\n"), indent...))...)
	}
	in.write(kind, append(s, '\n'))
	return in.resume(undefined)
}

func (in *instance) consoleDir(_ value, args []value) value {
	s, _, thrown := in.driverCall("dir", args[0], args[1])
	if thrown {
		return exception
	}
	return in.line(codeinterp.Stdout, s)
}

func (in *instance) consoleTable(_ value, args []value) value {
	s, ok, thrown := in.driverCall("table", args[0], args[1])
	if thrown {
		return exception
	}
	if !ok {
		return in.log(codeinterp.Stdout, args[:1])
	}
	return in.line(codeinterp.Stdout, s)
}

func (in *instance) consoleTrace(_ value, args []value) value {
	s, ok := in.format(args)
	if !ok {
		return exception
	}
	head := "Trace"
	if len(s) > 0 {
		head += ": "
	}
	return in.lineOf(head, s, in.stackOf(in.vm.printStack()))
}

func (in *instance) consoleAssert(_ value, args []value) value {
	if lib.XJS_ToBool(in.vm.tls, in.vm.ctx, args[0]) != 0 {
		return undefined
	}
	s, ok := in.format(args[1:])
	if !ok {
		return exception
	}
	if len(args) > 1 {
		return in.lineOf("Assertion failed: ", s, "")
	}
	return in.lineOf("Assertion failed", nil, "")
}

// lineOf prints an error's line that is what a program has to say, and more.
func (in *instance) lineOf(before string, s []byte, after string) value {
	d := draft{vm: in.vm}
	if !d.grow(len(before) + len(s) + len(after) + 1) {
		return exception
	}
	d.b = append(append(append(d.b, before...), s...), after...)
	return in.line(codeinterp.Stderr, d.b)
}

// label returns the label that a call of count or time names.
func (in *instance) label(v value) (string, bool) {
	if isUndefined(v) {
		return "default", true
	}
	s, _, ok := in.vm.clipped(v, maxLabel)
	if ok && len(in.console.counts)+len(in.console.timers) >= maxLabels {
		in.vm.throw("RangeError", "too many labels of console.count and console.time")
		return "", false
	}
	return s, ok
}

func (in *instance) consoleCount(_ value, args []value) value {
	label, ok := in.label(args[0])
	if !ok {
		return exception
	}
	if in.console.counts == nil {
		in.console.counts = map[string]int{}
	}
	in.console.counts[label]++
	return in.line(codeinterp.Stdout, []byte(label+": "+strconv.Itoa(in.console.counts[label])))
}

func (in *instance) consoleCountReset(_ value, args []value) value {
	label, ok := in.label(args[0])
	if !ok {
		return exception
	}
	delete(in.console.counts, label)
	return undefined
}

func (in *instance) consoleTime(_ value, args []value) value {
	label, ok := in.label(args[0])
	if !ok {
		return exception
	}
	if in.console.timers == nil {
		in.console.timers = map[string]time.Time{}
	}
	in.console.timers[label] = time.Now()
	return undefined
}

func (in *instance) consoleElapsed(args []value, end bool) value {
	label, ok := in.label(args[0])
	if !ok {
		return exception
	}
	start, ok := in.console.timers[label]
	if !ok {
		return in.line(codeinterp.Stderr, []byte("Warning: No such label '"+label+"' for console.timeEnd()"))
	}
	if end {
		delete(in.console.timers, label)
	}
	d := draft{vm: in.vm}
	ok = d.add(label + ": " + elapsed(time.Since(start)))
	if !end && len(args) > 1 && ok {
		more, formatted := in.format(args[1:])
		ok = formatted && d.grow(len(more)+2)
		if ok {
			d.b = append(append(d.b, ' '), more...)
		}
	}
	if !ok {
		return exception
	}
	return in.line(codeinterp.Stdout, d.b)
}

// elapsed formats a duration as node does.
func elapsed(d time.Duration) string {
	if d >= time.Second {
		return fmt.Sprintf("%.3fs", d.Seconds())
	}
	return strconv.FormatFloat(float64(d.Microseconds())/1000, 'f', -1, 64) + "ms"
}

func (in *instance) consoleGroup(_ value, args []value) value {
	if len(args) > 0 {
		if v := in.log(codeinterp.Stdout, args); isException(v) {
			return v
		}
	}
	if len(in.console.indent) < maxIndent {
		in.console.indent += "  "
	}
	return undefined
}
