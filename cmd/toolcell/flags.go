package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/mattn/go-isatty"
)

// parse parses args with flags and operands in any order, and returns the
// operands. done is true where the command ends here, with the given code.
func (a *app) parse(fs *flag.FlagSet, synopsis string, args []string) (operands []string, code int, done bool) {
	for {
		rest, code, done := a.parseLeading(fs, synopsis, args)
		if done {
			return nil, code, true
		}
		// package flag takes the -- away, and what follows it are operands, even
		// where it begins with a dash.
		if ended := len(args) > len(rest) && args[len(args)-len(rest)-1] == "--"; ended || len(rest) == 0 {
			return append(operands, rest...), 0, false
		}
		operands = append(operands, rest[0])
		args = rest[1:]
	}
}

// parseLeading parses the flags before the first operand, and returns the rest.
func (a *app) parseLeading(fs *flag.FlagSet, synopsis string, args []string) (rest []string, code int, done bool) {
	fs.SetOutput(io.Discard)
	fs.Usage = func() {}
	if err := fs.Parse(args); errors.Is(err, flag.ErrHelp) {
		fmt.Fprintf(a.stdout, "usage: toolcell %s\n\n", synopsis)
		fs.SetOutput(a.stdout)
		fs.PrintDefaults()
		return nil, 0, true
	} else if err != nil {
		return nil, a.usageError("%s; see toolcell %s --help", explain(fs, err), fs.Name()), true
	}
	return fs.Args(), 0, false
}

// explain is what the parser says, with what a flag takes in place of "parse error".
func explain(fs *flag.FlagSet, err error) string {
	text := err.Error()
	if name, ok := strings.CutPrefix(text, "flag provided but not defined: -"); ok {
		var names []string
		fs.VisitAll(func(f *flag.Flag) { names = append(names, f.Name) })
		best := nearest(name, names)
		if best != "" {
			best = dashed(&flag.Flag{Name: best})
		}
		return "there is no flag " + dashed(&flag.Flag{Name: name}) + orMean(best)
	}
	fs.VisitAll(func(f *flag.Flag) {
		if before, ok := strings.CutSuffix(text, " -"+f.Name+": parse error"); ok {
			what, _ := flag.UnquoteUsage(f)
			if what == "duration" {
				what = "duration, such as 30s or 2m"
			}
			text = before + " -" + f.Name + ": use a " + what
		}
	})
	return text
}

// variables is a flag that holds an environment.
type variables struct {
	values map[string]string
	unset  []string // names without a value, which are not variables of this command either
	getenv func(string) string
}

func (v *variables) String() string { return "" }

func (v *variables) Set(s string) error {
	name, value, ok := strings.Cut(s, "=")
	if name == "" {
		return errors.New("use NAME=VALUE or NAME")
	}
	if !ok {
		if value = v.getenv(name); value == "" {
			v.unset = append(v.unset, name)
		}
	}
	if v.values == nil {
		v.values = map[string]string{}
	}
	v.values[name] = value
	return nil
}

// piped reports whether standard input is a pipe or a file that somebody else
// fills, and so may be a program: no terminal, and not nothing.
func (a *app) piped() bool {
	in, ok := a.stdin.(*os.File)
	if !ok || isatty.IsTerminal(in.Fd()) {
		return false
	}
	info, err := in.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice == 0
}

// An onlyOne is a flag that is given once: another would take the place of the first
// without a word.
type onlyOne struct {
	value *string
	given bool
}

// String is for [flag.Value], which also makes empty ones.
func (o *onlyOne) String() string {
	if o.value == nil {
		return ""
	}
	return *o.value
}

// Set is for [flag.Value].
func (o *onlyOne) Set(text string) error {
	if o.given {
		return errors.New("it is given twice")
	}
	*o.value, o.given = text, true
	return nil
}
