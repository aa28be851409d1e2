package main

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/mattn/go-isatty"

	"github.com/toolcell/toolcell/providers/subprocess"
)

// variables is a flag that holds an environment.
type variables struct {
	values map[string]string
	unset  []string // names without a value here
	getenv func(string) string
}

// String implements pflag.Value.
func (v *variables) String() string { return "" }

// Type implements pflag.Value.
func (v *variables) Type() string { return "NAME=VALUE" }

// Set implements pflag.Value.
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

// A list is a flag that may be given several times.
type list []string

// String implements pflag.Value.
func (l *list) String() string { return strings.Join(*l, ",") }

// Type implements pflag.Value.
func (l *list) Type() string { return "list" }

// Set implements pflag.Value.
func (l *list) Set(s string) error {
	if s == "" {
		return errors.New("empty")
	}
	*l = append(*l, s)
	return nil
}

// A size is a flag that holds bytes: 300, 64K, 512M, 2G, or -1.
type size int64

// String implements pflag.Value.
func (s *size) String() string { return "" }

// Type implements pflag.Value.
func (s *size) Type() string { return "size" }

// Set implements pflag.Value.
func (s *size) Set(text string) error {
	// 2GiB and 2GB are 2G.
	number, unit := strings.TrimRight(strings.ToUpper(text), "IB"), int64(1)
	for i, suffix := range []string{"K", "M", "G", "T"} {
		if n, ok := strings.CutSuffix(number, suffix); ok {
			number, unit = n, int64(1)<<(10*(i+1))
			break
		}
	}
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil || n < -1 || n == 0 || n == -1 && unit > 1 || n > (1<<62)/unit {
		return errors.New("use a size such as 512M or 2G, or -1")
	}
	*s = size(n * unit)
	return nil
}

// An isolationFlag is a flag that holds a mode of the subprocess provider.
type isolationFlag struct{ subprocess.Mode }

// String implements pflag.Value.
func (f *isolationFlag) String() string { return "" }

// Type implements pflag.Value.
func (f *isolationFlag) Type() string { return "mode" }

// Set implements pflag.Value.
func (f *isolationFlag) Set(s string) error {
	for _, m := range []subprocess.Mode{subprocess.Bwrap, subprocess.Landlock, subprocess.None} {
		if m.String() == s {
			f.Mode = m
			return nil
		}
	}
	return errors.New("use bwrap, landlock or none")
}

// A single is a flag that may be given once.
type single struct {
	value *string
	given bool
}

// String implements pflag.Value.
func (o *single) String() string { return "" }

// Type implements pflag.Value.
func (o *single) Type() string { return "code" }

// Set implements pflag.Value.
func (o *single) Set(text string) error {
	if o.given {
		return errors.New("give it once")
	}
	*o.value, o.given = text, true
	return nil
}

// piped reports whether standard input is a pipe or a file, and so may be a program.
func (a *app) piped() bool {
	in, ok := a.stdin.(interface {
		Fd() uintptr
		Stat() (os.FileInfo, error)
	})
	if !ok || isatty.IsTerminal(in.Fd()) {
		return false
	}
	info, err := in.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice == 0
}

// isTerminal reports whether a stream of the command is a terminal.
func isTerminal(stream any) bool {
	s, ok := stream.(interface{ Fd() uintptr })
	return ok && isatty.IsTerminal(s.Fd())
}

// noOperands refuses operands.
func (a *app) noOperands(name string, operands []string) int {
	if len(operands) > 0 {
		return a.usageError("%s", fmt.Sprintf("%s takes no %q; see toolcell %s --help", name, operands[0], name))
	}
	return 0
}
