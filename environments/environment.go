package environments

import (
	"cmp"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/egress"
	"github.com/toolcell/toolcell/internal/sandbox"
)

// An Environment is a Python, or a directory of Node.js packages.
type Environment struct {
	// ID identifies the request and the interpreter.
	ID string

	// Dir holds the environment. Python is its interpreter; it is empty for
	// Node.js packages, which are in Dir/node_modules.
	Dir, Python string

	// Lock lists what is installed, sorted: "six==1.17.0", for Node.js
	// "lodash@4.17.21".
	Lock []string
}

// Options says what an environment consists of. Only Packages is required.
type Options struct {
	// Language is "python", which empty means, or "javascript".
	Language string

	// Packages are names with versions, such as "pandas" or "numpy>=2,<3", for
	// Node.js "lodash" or "@types/node@22". Options, addresses and paths are
	// refused.
	Packages []string

	// Exact says that Packages are the Lock of an environment: exactly those
	// versions are installed.
	Exact bool

	// Constraints are lines of a Lock. Of the packages in it no other version is
	// installed. Python only.
	Constraints []string

	// Python is the interpreter to build upon. Empty means the first one that is
	// found and works.
	Python string

	// Changeable lists directories that programs change, such as
	// subprocess.Options.Dir: nothing that lies there is started.
	Changeable []string

	// Root is the directory that environments are kept in. Empty means
	// toolcell/environments in the user's cache directory, for root in /var/cache.
	Root string

	// Egress, if set, is what the installation reaches in place of the host's network,
	// which includes localhost and metadata services. It has to allow the index.
	Egress *egress.Options

	// Disk bounds the bytes that the installation writes; zero means 16 GiB.
	Disk int64

	require sandbox.Mode // of installers; tests set it
}

var (
	// requirement matches a Python package with extras, versions and a marker.
	requirement = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*(\[[A-Za-z0-9,._ -]+\])? *((===?|~=|!=|<=?|>=?) *[A-Za-z0-9.*+!_-]+ *,? *)*(;[^\n]*)?$`)
	})
	pinned = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z0-9][a-z0-9.-]*==[A-Za-z0-9.+!_-]+$`) })

	// npmRequirement matches a Node.js package with versions or a tag.
	npmRequirement = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^(@[a-z0-9][a-z0-9._-]*/)?[a-z0-9][a-z0-9._-]*(@[A-Za-z0-9.^~<>=*+-]+)?$`)
	})
	npmPinned = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^(@[a-z0-9][a-z0-9._-]*/)?[a-z0-9][a-z0-9._-]*@[0-9]+\.[0-9]+\.[0-9]+[A-Za-z0-9.+-]*$`)
	})
)

// complete checks the options and returns a copy with defaults and sorted packages.
func (o *Options) complete() (*Options, error) {
	if o == nil || len(o.Packages) == 0 {
		return nil, fmt.Errorf("%w: an environment without packages", codeinterp.ErrInvalid)
	}
	if o.Disk < 0 {
		return nil, fmt.Errorf("%w: Disk %d", codeinterp.ErrInvalid, o.Disk)
	}
	own := *o
	own.Disk = cmp.Or(own.Disk, 16<<30)
	form, exact, like, locked := requirement(), pinned(), "numpy>=2", "six==1.17.0"
	switch own.Language {
	case "", "python":
		own.Language = "python"
	case "javascript":
		form, exact, like, locked = npmRequirement(), npmPinned(), "lodash@4", "lodash@4.17.21"
		if own.Python != "" || len(own.Constraints) > 0 {
			return nil, fmt.Errorf("%w: Python and Constraints are for environments of python", codeinterp.ErrInvalid)
		}
	default:
		return nil, fmt.Errorf("%w: Language %.50q; use python or javascript", codeinterp.ErrInvalid, own.Language)
	}
	if own.Exact {
		form, like = exact, locked
	}
	for _, dir := range own.Changeable {
		if !filepath.IsAbs(dir) {
			return nil, fmt.Errorf("%w: Changeable %q is not absolute", codeinterp.ErrInvalid, dir)
		}
	}
	own.Constraints = slices.DeleteFunc(slices.Clone(own.Constraints), func(line string) bool { return !pinned().MatchString(line) })
	var err error
	own.Packages, err = checkPackages(own.Packages, form, like)
	return &own, err
}

// Requirements returns the packages that the text of a requirements file lists. It
// fails with codeinterp.ErrInvalid if a line is no package by name.
func Requirements(text string) ([]string, error) {
	var list []string
	for line := range strings.Lines(text) {
		line, _, _ = strings.Cut(strings.TrimSpace(line), " #")
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			list = append(list, line)
		}
	}
	return checkPackages(list, requirement(), "numpy>=2")
}

// checkPackages returns the packages sorted and without repetitions.
func checkPackages(packages []string, form *regexp.Regexp, like string) ([]string, error) {
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
