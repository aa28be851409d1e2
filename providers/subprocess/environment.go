package subprocess

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/toolcell/toolcell/codeinterp"
)

// An Environment is a Python with packages of its own, in a directory that
// programs may read and not change. It is named by what it was made of: whoever
// asks for the same again, in any process, gets the one that is there, without
// the network.
type Environment struct {
	// ID tells apart what was asked for, and by which Python.
	ID string

	// Dir holds the environment, and Python is its interpreter.
	Dir, Python string

	// Lock lists what is installed, such as "six==1.17.0", sorted. As
	// EnvironmentOptions.Packages it makes an environment with the same versions.
	Lock []string
}

// EnvironmentOptions says what an environment consists of.
type EnvironmentOptions struct {
	// Packages are requirements by name, such as "pandas" or "numpy>=2,<3".
	// Options, addresses and paths are refused.
	Packages []string

	// Exact says that Packages are the Lock of an environment, and so all that is
	// installed. It is made without the network where its wheels are in Root
	// already, as those of every environment that was made there by pip are.
	Exact bool

	// Python is the interpreter to build upon; empty means the one that an
	// interpreter with the options' zero value would take.
	Python string

	// Root is the directory that environments are kept in; empty means
	// toolcell/environments in the user's cache directory, of root in
	// /var/cache, since programs of a root host run as somebody else.
	Root string
}

// Language returns Python in the environment.
func (e *Environment) Language() Language {
	l := Python()
	l.Commands = []string{e.Python}
	return l
}

// requirement is a package by name, with extras, versions and a marker.
var requirement = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*(\[[A-Za-z0-9,._ -]+\])? *((===?|~=|!=|<=?|>=?) *[A-Za-z0-9.*+!_-]+ *,? *)*(;[^\n]*)?$`)

// pinned is what a Lock consists of.
var pinned = regexp.MustCompile(`^[a-z0-9][a-z0-9.-]*==[A-Za-z0-9.+!_-]+$`)

// checkExact finds what is not in the form of a Lock.
func checkExact(packages []string) error {
	for _, p := range packages {
		if !pinned.MatchString(p) {
			return fmt.Errorf("%w: package %.100q of a lock; it holds lines such as six==1.17.0", codeinterp.ErrInvalid, p)
		}
	}
	return nil
}

// Requirements returns the packages that the text of a requirements file lists.
// It fails with codeinterp.ErrInvalid where there is more than packages by name.
func Requirements(text string) ([]string, error) {
	var list []string
	for line := range strings.Lines(text) {
		line, _, _ = strings.Cut(strings.TrimSpace(line), " #")
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			list = append(list, line)
		}
	}
	return checkPackages(list)
}

// checkPackages returns the packages in the order in which they identify an
// environment.
func checkPackages(packages []string) ([]string, error) {
	list := slices.Clone(packages)
	for i, p := range list {
		list[i] = strings.TrimSpace(p)
		if len(p) > 1000 || !requirement.MatchString(list[i]) {
			return nil, fmt.Errorf("%w: package %.100q; use names with versions, such as numpy>=2", codeinterp.ErrInvalid, p)
		}
	}
	slices.Sort(list)
	return slices.Compact(list), nil
}
