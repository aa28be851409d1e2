package main

import (
	"errors"
	"os"
	"strings"

	"github.com/mattn/go-isatty"

	"github.com/toolcell/toolcell/providers/subprocess"
	"github.com/toolcell/toolcell/workspace/template"
)

// variables holds an environment.
type variables struct {
	values map[string]string
	getenv func(string) string
}

// set adds NAME=VALUE, or NAME with its value here.
func (v *variables) set(s string) error {
	name, value, ok := strings.Cut(s, "=")
	if name == "" {
		return errors.New("use NAME=VALUE or NAME")
	}
	if !ok {
		value = v.getenv(name)
	}
	if v.values == nil {
		v.values = map[string]string{}
	}
	v.values[name] = value
	return nil
}

// each returns a flag that may be given several times.
func each(list *[]string) func(string) error {
	return func(s string) error {
		if s == "" {
			return errors.New("empty")
		}
		*list = append(*list, s)
		return nil
	}
}

// bytesIn returns a flag that holds bytes: 300, 64K, 512M, 2GiB, or -1.
func bytesIn(size *int64) func(string) error {
	return func(text string) error { return (*template.Size)(size).UnmarshalText([]byte(text)) }
}

// modeIn returns a flag that holds a mode of the subprocess provider.
func modeIn(mode *subprocess.Mode) func(string) error {
	return func(s string) error {
		for _, m := range []subprocess.Mode{subprocess.Bwrap, subprocess.Landlock, subprocess.None} {
			if m.String() == s {
				*mode = m
				return nil
			}
		}
		return errors.New("use bwrap, landlock or none")
	}
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
