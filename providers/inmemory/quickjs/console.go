//go:build !(386 || arm || s390x)

package quickjs

import (
	"fmt"
	"strconv"
	"strings"
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

const (
	maxIndent = 200
	maxLabels = 10_000
)

func consoleFunctions() []function {
	out, err := codeinterp.Stdout, codeinterp.Stderr
	log := func(kind codeinterp.Kind) func(*instance, value, []value) value {
		return func(in *instance, _ value, args []value) value { return in.log(kind, args) }
	}
	return []function{
		{"log", 0, log(out)}, {"info", 0, log(out)}, {"debug", 0, log(out)}, {"dirxml", 0, log(out)},
		{"warn", 0, log(err)}, {"error", 0, log(err)},
		{"trace", 0, (*instance).consoleTrace},
		{"dir", 2, (*instance).consoleDir},
		{"table", 2, (*instance).consoleTable},
		{"assert", 1, (*instance).consoleAssert},
		{"count", 1, (*instance).consoleCount},
		{"countReset", 1, (*instance).consoleCountReset},
		{"time", 1, (*instance).consoleTime},
		{"timeEnd", 1, func(in *instance, _ value, args []value) value { return in.consoleElapsed(args, true) }},
		{"timeLog", 1, func(in *instance, _ value, args []value) value { return in.consoleElapsed(args, false) }},
		{"group", 0, (*instance).consoleGroup}, {"groupCollapsed", 0, (*instance).consoleGroup},
		{"groupEnd", 0, func(in *instance, _ value, _ []value) value {
			in.console.indent = in.console.indent[:max(0, len(in.console.indent)-2)]
			return undefined
		}},
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

// format is node's util.format.
func (in *instance) format(args []value) (string, bool) {
	if s, plain, ok := in.formatPlain(args); plain {
		return s, ok
	}
	s, _, thrown := in.driverCall("format", args...)
	return s, !thrown
}

// formatPlain formats arguments that need no driver: strings without
// directives and a few other primitives. plain is false for others, ok where an
// exception is pending.
func (in *instance) formatPlain(args []value) (_ string, plain, ok bool) {
	if len(args) == 1 {
		s, plain := in.primitive(args[0], false)
		return s, plain, true
	}
	var b strings.Builder
	for i, a := range args {
		s, plain := in.primitive(a, false)
		if !plain || i == 0 && isString(a) && strings.Contains(s, "%") {
			return "", false, false
		}
		if i > 0 {
			b.WriteByte(' ')
		}
		if !in.fits(b.Len() + len(s)) {
			return "", true, false
		}
		b.WriteString(s)
	}
	return b.String(), true, true
}

// fits reports whether the host may make a text so long of a program's values,
// which can be one string many times; an exception is pending where not.
func (in *instance) fits(size int) bool {
	if limit := in.config.Limits.Memory; limit > 0 && int64(size) > limit {
		in.vm.throw("RangeError", "Invalid string length")
		return false
	}
	return true
}

func (in *instance) line(kind codeinterp.Kind, s string) value {
	if indent := in.console.indent; indent != "" {
		if !in.fits(len(s) + len(indent)*strings.Count(s, "\n")) {
			return exception
		}
		s = indent + strings.ReplaceAll(s, "\n", "\n"+indent)
	}
	in.write(kind, append([]byte(s), '\n'))
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
	e := lib.XJS_NewError(in.vm.tls, in.vm.ctx)
	lib.XJS_Throw(in.vm.tls, in.vm.ctx, e)
	e = lib.XJS_GetException(in.vm.tls, in.vm.ctx)
	stack := framesOf(in.vm.ownString(e, "stack"))
	in.vm.free(e)
	if s != "" {
		s = ": " + s
	}
	return in.line(codeinterp.Stderr, strings.TrimRight("Trace"+s+"\n"+stack, "\n"))
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
		s = ": " + s
	}
	return in.line(codeinterp.Stderr, "Assertion failed"+s)
}

// label returns the label that a call of count or time names.
func (in *instance) label(v value) (string, bool) {
	if isUndefined(v) {
		return "default", true
	}
	s, ok := in.vm.text(v)
	return clip(s, 1024), ok
}

func (in *instance) consoleCount(_ value, args []value) value {
	label, ok := in.label(args[0])
	if !ok {
		return exception
	}
	// They are kept in Go, outside of the program's memory limit.
	if in.console.counts == nil || len(in.console.counts) > maxLabels {
		in.console.counts = map[string]int{}
	}
	in.console.counts[label]++
	return in.line(codeinterp.Stdout, label+": "+strconv.Itoa(in.console.counts[label]))
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
	// As for counts: outside of the program's memory limit.
	if in.console.timers == nil || len(in.console.timers) > maxLabels {
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
		return in.line(codeinterp.Stderr, "Warning: No such label '"+label+"' for console.timeEnd()")
	}
	if end {
		delete(in.console.timers, label)
	}
	s := label + ": " + elapsed(time.Since(start))
	if !end && len(args) > 1 {
		more, ok := in.format(args[1:])
		if !ok {
			return exception
		}
		s += " " + more
	}
	return in.line(codeinterp.Stdout, s)
}

// elapsed formats a duration as node does.
func elapsed(d time.Duration) string {
	switch ms := float64(d) / 1e6; {
	case d >= time.Hour:
		return fmt.Sprintf("%d:%02d:%02d (h:mm:ss)", int(d.Hours()), int(d.Minutes())%60, int(d.Seconds())%60)
	case d >= time.Minute:
		return fmt.Sprintf("%d:%06.3f (m:ss.mmm)", int(d.Minutes()), d.Seconds()-60*float64(int(d.Minutes())))
	case ms >= 1000:
		return fmt.Sprintf("%.3fs", ms/1000)
	default:
		return strconv.FormatFloat(float64(int(ms*1000))/1000, 'f', -1, 64) + "ms"
	}
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
