package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
)

// parse parses args with flags and operands in any order, and returns the
// operands. done is true where the command ends here, with the given code.
func (a *app) parse(fs *flag.FlagSet, synopsis string, args []string) (operands []string, code int, done bool) {
	fs.SetOutput(io.Discard)
	fs.Usage = func() {}
	for {
		if err := fs.Parse(args); errors.Is(err, flag.ErrHelp) {
			fmt.Fprintf(a.stdout, "usage: toolcell %s\n\n", synopsis)
			fs.SetOutput(a.stdout)
			fs.PrintDefaults()
			return nil, 0, true
		} else if err != nil {
			return nil, a.usageError("%v; see toolcell %s --help", err, fs.Name()), true
		}
		rest := fs.Args()
		if ended := len(args) > len(rest) && args[len(args)-len(rest)-1] == "--"; ended || len(rest) == 0 {
			return append(operands, rest...), 0, false
		}
		operands = append(operands, rest[0])
		args = rest[1:]
	}
}
