package subprocess

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
)

// An Environment is a Python, or Node.js, with packages of its own, in a directory
// that programs may read and not change. It is named by what it was made of: whoever
// asks for the same again, in any process, gets the one that is there, without
// the network.
type Environment struct {
	// ID tells apart what was asked for, and by which Python.
	ID string

	// Dir holds the environment, and Python is its interpreter; that is empty
	// for one of Node.js.
	Dir, Python string

	// Lock lists what is installed, such as "six==1.17.0", or "lodash@4.17.21"
	// for Node.js, sorted. As
	// EnvironmentOptions.Packages it makes an environment with the same versions.
	Lock []string

	wrote int64 // by its installation, where this made it
}

// EnvironmentOptions says what an environment consists of.
type EnvironmentOptions struct {
	// Language is "python", which empty means, or "javascript", which
	// TypeScript programs share.
	Language string

	// Packages are requirements by name, such as "pandas" or "numpy>=2,<3", of
	// Node.js "lodash" or "@types/node@22". Options, addresses and paths are
	// refused.
	Packages []string

	// Exact says that Packages are the Lock of an environment, and so all that is
	// installed. It is made without the network where its wheels are in Root
	// already, as those of every environment that was made there by pip are, or in the
	// cache of uv or npm.
	Exact bool

	// Python is the interpreter to build upon; empty means the one that an
	// interpreter with the options' zero value would take, and so it has to be
	// for Node.js.
	Python string

	// Changeable lists directories that programs change, such as an interpreter's
	// Options.Dir: no interpreter and no client that lies there is started.
	Changeable []string

	// Root is the directory that environments are kept in; empty means
	// toolcell/environments in the user's cache directory, of root in
	// /var/cache, since programs of a root host run as somebody else.
	Root string

	// Require is the isolation of what installs: Auto takes the strongest that works
	// here, or none where none does, and None takes none; with the others
	// NewEnvironment fails with codeinterp.ErrIsolation where they do not work. The
	// package documentation says what it keeps from what installs.
	Require Mode

	// Timeout bounds the installation, and Disk the bytes that it may write and
	// hold in memory, what is temporary or goes to the cache of uv, pip or npm
	// included. Zero means 30 minutes, and 16 GiB. Disk is looked at a few times a second, so it
	// can be overshot by what a disk takes in that time; where the system does not
	// tell what processes write, which Linux does, only what lies in the
	// environment and the temporary directory counts. What is fetched and thrown
	// away is bounded by Timeout alone.
	Timeout time.Duration
	Disk    int64
}

// Language returns Python in the environment, or JavaScript.
func (e *Environment) Language() Language { return e.Languages()[0] }

// Languages returns all languages of the environment: Python, or JavaScript and
// TypeScript.
func (e *Environment) Languages() []Language {
	if e.Python != "" {
		l := Python()
		l.Commands = []string{e.Python}
		return []Language{l}
	}
	list := []Language{JavaScript(), TypeScript()}
	for i := range list {
		list[i].Env = map[string]string{"NODE_PATH": filepath.Join(e.Dir, "node_modules")}
		list[i].environment = e
	}
	return list
}

// requirement is a package by name, with extras, versions and a marker.
var requirement = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*(\[[A-Za-z0-9,._ -]+\])? *((===?|~=|!=|<=?|>=?) *[A-Za-z0-9.*+!_-]+ *,? *)*(;[^\n]*)?$`)
})

// pinned is what a Lock consists of.
var pinned = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z0-9][a-z0-9.-]*==[A-Za-z0-9.+!_-]+$`) })

// npmRequirement is a package of Node.js by name, with versions or a tag, and
// npmPinned what a Lock consists of.
var (
	npmRequirement = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^(@[a-z0-9][a-z0-9._-]*/)?[a-z0-9][a-z0-9._-]*(@[A-Za-z0-9.^~<>=*+-]+)?$`)
	})
	npmPinned = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^(@[a-z0-9][a-z0-9._-]*/)?[a-z0-9][a-z0-9._-]*@[0-9]+\.[0-9]+\.[0-9]+[A-Za-z0-9.+-]*$`)
	})
)

// check returns the packages in the order in which they identify the environment.
func (o *EnvironmentOptions) check() ([]string, error) {
	if o == nil || len(o.Packages) == 0 {
		return nil, fmt.Errorf("%w: an environment without packages", codeinterp.ErrInvalid)
	}
	if o.Timeout < 0 || o.Disk < 0 {
		return nil, fmt.Errorf("%w: an environment's Timeout of %v, Disk of %d", codeinterp.ErrInvalid, o.Timeout, o.Disk)
	}
	form, exact, like, locked := requirement, pinned, "numpy>=2", "six==1.17.0"
	switch o.Language {
	case "", "python":
	case "javascript":
		form, exact, like, locked = npmRequirement, npmPinned, "lodash@4", "lodash@4.17.21"
		if o.Python != "" {
			return nil, fmt.Errorf("%w: an environment of javascript with a Python", codeinterp.ErrInvalid)
		}
	default:
		return nil, fmt.Errorf("%w: an environment of %.50q; of python and javascript there are some", codeinterp.ErrInvalid, o.Language)
	}
	packages, err := checkForm(o.Packages, form(), like)
	for _, p := range packages {
		if o.Exact && !exact().MatchString(p) {
			return nil, fmt.Errorf("%w: package %.100q of a lock; it holds lines such as %s", codeinterp.ErrInvalid, p, locked)
		}
	}
	return packages, err
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

// checkPackages returns Python's packages in the order in which they identify an
// environment.
func checkPackages(packages []string) ([]string, error) {
	return checkForm(packages, requirement(), "numpy>=2")
}

func checkForm(packages []string, form *regexp.Regexp, like string) ([]string, error) {
	list := slices.Clone(packages)
	for i, p := range list {
		list[i] = strings.TrimSpace(p)
		if len(p) > 1000 || !form.MatchString(list[i]) {
			return nil, fmt.Errorf("%w: package %.100q; use names with versions, such as %s", codeinterp.ErrInvalid, p, like)
		}
	}
	slices.Sort(list)
	return slices.Compact(list), nil
}
